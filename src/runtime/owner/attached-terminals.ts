/**
 * The terminals attached to an owner's runs, each on a connection of its own. A viewer who does not read is detached,
 * and gets the reason after the waiting output. So neither the program nor its log waits for a viewer.
 */

import type { ErrorCode } from '../../model/errors.js';
import { publicMessage } from '../../model/public-message.js';
import type { AttachEndReason, TerminalSize } from '../../model/run/attachment.js';
import { endText } from '../../model/words.js';
import type { DaemonConnection } from './daemon-connection.js';
import type { HeldRun, View } from './held-run.js';
import type { OwnerExit } from './protocol.js';

const MOST_UNREAD_BYTES = 1024 * 1024;
const MOST_PER_RUN = 32;
/** The most bytes of output in one frame. */
const PIECE_BYTES = 32 * 1024;
/** How long the end of a view waits for the exit of its run: a session's view may end just before the run does. */
const EXIT_PATIENCE_MS = 2000;

interface Attached {
  readonly run: HeldRun;
  /** The view; undefined while it is being opened. */
  view: View | undefined;
  hasEnded: boolean;
  timer: NodeJS.Timeout | undefined;
}

export class AttachedTerminals {
  readonly #attached = new Map<DaemonConnection, Attached>();

  /** Answers a request to attach; `run` undefined: no such run. Never rejects. */
  async attach(connection: DaemonConnection, run: HeldRun | undefined, size: TerminalSize): Promise<void> {
    if (run === undefined || run.exit !== null) {
      refuse(connection, 'DRV_INSTANCE_NOT_RUNNING', 'the instance is not running');
      return;
    }
    if (this.#countOf(run) >= MOST_PER_RUN || this.#attached.has(connection)) {
      const message = `${MOST_PER_RUN} terminals are attached to instance ${run.instanceId}: leave one first`;
      refuse(connection, 'DRV_INSTANCE_NOT_ATTACHABLE', message);
      return;
    }
    const attached: Attached = { run, view: undefined, hasEnded: false, timer: undefined };
    this.#attached.set(connection, attached);
    await this.#open(connection, attached, size);
  }

  /** Passes on typed bytes. When the program does not read, the viewer is told that they were refused. */
  write(connection: DaemonConnection, bytes: Buffer): void {
    const attached = this.#attached.get(connection);
    if (attached !== undefined) void this.#give(connection, attached, bytes);
  }

  resize(connection: DaemonConnection, { columns, rows }: TerminalSize): void {
    this.#attached.get(connection)?.view?.resize({ columns, rows });
  }

  /** Called when the connection has closed. */
  detach(connection: DaemonConnection): void {
    const attached = this.#attached.get(connection);
    this.#attached.delete(connection);
    if (attached !== undefined) close(attached);
  }

  /** Called when a run has ended, after its last output. */
  endOf(run: HeldRun, exit: OwnerExit): void {
    for (const [connection, attached] of this.#attached)
      if (attached.run === run)
        this.#end(connection, 'exited', `instance ${run.instanceId} ${endText(exit)}`);
  }

  async #open(connection: DaemonConnection, attached: Attached, size: TerminalSize): Promise<void> {
    const early: Buffer[] = [];
    let isOpen = false;
    try {
      const view = await attached.run.attach({
        size,
        onOutput: (bytes) => {
          if (isOpen) this.#send(connection, attached, bytes);
          else early.push(Buffer.from(bytes));
        },
        onEnd: () => this.#onViewEnd(connection, attached),
      });
      attached.view = view;
      // The viewer left, or the run ended, while the view was opened.
      if (attached.hasEnded) {
        view.close();
        return;
      }
      connection.send({ type: 'attached', isTransparent: view.isTransparent });
      isOpen = true;
      for (const bytes of early) this.#send(connection, attached, bytes);
    } catch (error) {
      this.#attached.delete(connection);
      if (!attached.hasEnded) refuse(connection, 'DRV_INSTANCE_NOT_ATTACHABLE', publicMessage(error));
    }
  }

  #send(connection: DaemonConnection, attached: Attached, bytes: Uint8Array): void {
    if (attached.hasEnded) return;
    for (let at = 0; at < bytes.length; at += PIECE_BYTES)
      connection.send({ type: 'output' }, bytes.subarray(at, at + PIECE_BYTES));
    this.#checkUnread(connection);
  }

  async #give(connection: DaemonConnection, attached: Attached, bytes: Buffer): Promise<void> {
    let message: string | undefined;
    try {
      if ((await attached.view?.write(bytes)) === false) message = 'the program is not reading its input';
    } catch (error) {
      message = publicMessage(error);
    }
    if (message === undefined || attached.hasEnded) return;
    connection.send({ type: 'input-refused', message });
    this.#checkUnread(connection);
  }

  /** Refusals count too: a viewer who types and never reads must not fill the owner's memory. */
  #checkUnread(connection: DaemonConnection): void {
    if (connection.unreadBytes > MOST_UNREAD_BYTES)
      this.#end(connection, 'too-slow', 'detached: more than 1 MiB of output waited to be read');
  }

  #onViewEnd(connection: DaemonConnection, attached: Attached): void {
    if (attached.hasEnded) return;
    attached.timer = setTimeout(
      () => this.#end(connection, 'left', 'the session was detached on its node'),
      EXIT_PATIENCE_MS,
    );
  }

  #end(connection: DaemonConnection, reason: AttachEndReason, message: string): void {
    const attached = this.#attached.get(connection);
    if (attached === undefined || attached.hasEnded) return;
    close(attached);
    connection.end({ type: 'ended', reason, message });
  }

  #countOf(run: HeldRun): number {
    return [...this.#attached.values()].filter((attached) => attached.run === run).length;
  }
}

function close(attached: Attached): void {
  clearTimeout(attached.timer);
  attached.hasEnded = true;
  attached.view?.close();
}

function refuse(connection: DaemonConnection, code: ErrorCode, message: string): void {
  connection.end({ type: 'not-attached', code, message });
}
