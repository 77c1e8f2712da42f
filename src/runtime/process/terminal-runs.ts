/**
 * The source of runs of the `process` runtime: runs on terminals that the owner itself holds. One shell waits ahead for
 * the next order, so that a start need not wait for a fork.
 */
import { existsSync } from 'node:fs';
import { attempt } from '../../model/plain/attempt.js';
import type { RunEvents, RunSource } from '../owner/held-run.js';
import type { StartRequest } from '../owner/protocol.js';
import { checkDirectory, openLog } from '../owner/run-start.js';
import type { NativePty } from './native-pty.js';
import { inheritableDescriptors } from './native-pty.js';
import { removeOrphans } from './order-file.js';
import { OwnedRun } from './owned-run.js';
import { PseudoTerminal } from './pseudo-terminal.js';
import { waitingShell } from './shell-prelude.js';

const READ_BUFFER_BYTES = 64 * 1024;
/**
 * The pause after the last start before the next shell is forked: during many starts the processor is needed for them.
 */
const AHEAD_AFTER_MS = 5;

export class TerminalRuns implements RunSource {
  readonly #native: NativePty;
  readonly #buffer = Buffer.allocUnsafeSlow(READ_BUFFER_BYTES);
  readonly #hasBash = existsSync('/bin/bash');
  /** Descriptors that the starter of the daemon left open. */
  readonly #inherited = inheritableDescriptors();
  readonly #open = new Set<OwnedRun>();
  #ahead: PseudoTerminal | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(native: NativePty) {
    this.#native = native;
    removeOrphans();
  }

  start(request: StartRequest, events: RunEvents): OwnedRun {
    clearTimeout(this.#timer);
    checkDirectory(request.workingDirectory);
    const log = openLog(request.log, request.hidden);
    try {
      const terminal = this.#takeTerminal();
      const run = new OwnedRun(request, log, terminal);
      const { command, workingDirectory, controlGroups = [] } = request;
      const environment = { TERM: 'xterm-256color', ...request.environment };
      terminal.run({
        order: { command, environment, workingDirectory, controlGroups },
        onOutput: (bytes) => run.take(bytes),
        onReady: () => {
          this.#makeAheadLater();
          events.onReady(run);
        },
        onExit: (code, signal) => {
          run.end(code, signal);
          events.onExit(run);
        },
      });
      this.#open.add(run);
      return run;
    } catch (error) {
      log.close();
      throw error;
    }
  }

  #takeTerminal(): PseudoTerminal {
    const ahead = this.#ahead;
    this.#ahead = undefined;
    return ahead?.isFree === true ? ahead : this.#openTerminal();
  }

  #makeAheadLater(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#makeAhead(), AHEAD_AFTER_MS).unref();
  }

  #makeAhead(): void {
    if (this.#ahead?.isFree === true) return;
    // Ignore a failure: the next start tries again, and reports it.
    this.#ahead = attempt(() => this.#openTerminal());
  }

  #openTerminal(): PseudoTerminal {
    return PseudoTerminal.open({
      native: this.#native,
      shell: (order) => waitingShell(order, this.#inheritable(), this.#hasBash),
      buffer: this.#buffer,
    });
  }

  #inheritable(): number[] {
    const found = [...this.#inherited];
    if (this.#ahead?.inheritable !== undefined) found.push(this.#ahead.inheritable);
    for (const run of this.#open) {
      if (run.inheritable !== undefined) found.push(run.inheritable);
      else if (run.isClosed) this.#open.delete(run);
    }
    return found;
  }
}
