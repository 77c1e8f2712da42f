/**
 * The owner: holds the terminals of all instances of one root, writes their logs and remembers their exits until
 * a daemon acknowledges them. Decides nothing: it never starts, stops or restarts anything on its own, and goes on
 * whether a daemon is there or not.
 */
import { existsSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { ErrorCode } from '../../model/errors.js';
import { publicMessage } from '../../model/public-message.js';
import { DaemonConnection } from './daemon-connection.js';
import { inheritableDescriptors } from './inheritable.js';
import type { NativePty } from './native-pty.js';
import { OwnedRun } from './owned-run.js';
import {
  OWNER_PROTOCOL,
  type OwnerMessage,
  type OwnerRequest,
  type OwnerRun,
  type StartRequest,
} from './protocol.js';

const READ_BUFFER_BYTES = 64 * 1024;
/**
 * Shells that may be on their way to their command at once: a hundred together would take the processors from the
 * daemon for a third of a second.
 */
const MOST_STARTING = 4;
/** More exits than that nobody acknowledges: the oldest are forgotten. */
const MOST_EXITS = 10_000;

export interface OwnerOptions {
  readonly rootId: string;
  readonly native: NativePty;
  /** Called whenever it holds nothing: no process, no exit, no daemon. */
  readonly onIdle: () => void;
}

type RunRequest = Exclude<OwnerRequest, { type: 'hello' }>;

export class Owner {
  readonly #options: OwnerOptions;
  readonly #runs = new Map<string, OwnedRun>();
  readonly #buffer = Buffer.allocUnsafeSlow(READ_BUFFER_BYTES);
  readonly #hasBash = existsSync('/bin/bash');
  /** Left open by whoever started the daemon. */
  readonly #inherited = inheritableDescriptors();
  /** Runs whose command does not run yet. */
  readonly #starting = new Set<OwnedRun>();
  /** Starts that wait for their turn. */
  readonly #queue: { readonly connection: DaemonConnection; readonly request: StartRequest }[] = [];
  #daemon: DaemonConnection | undefined;

  constructor(options: OwnerOptions) {
    this.#options = options;
  }

  get isIdle(): boolean {
    return this.#runs.size === 0 && this.#daemon === undefined;
  }

  /** Takes a connection; it counts as the daemon's only after a hello that fits. */
  accept(socket: Socket): void {
    new DaemonConnection(socket, {
      onRequest: (connection, request, body) => this.#onRequest(connection, request, body),
      onClose: (connection) => {
        if (connection !== this.#daemon) return;
        this.#daemon = undefined;
        this.#checkIdle();
      },
    });
  }

  #onRequest(connection: DaemonConnection, request: OwnerRequest, body: Buffer): void {
    if (request.type === 'hello') this.#welcome(connection, request.protocol, request.rootId);
    else if (connection !== this.#daemon) return;
    else if (request.type === 'start' && this.#starting.size >= MOST_STARTING)
      this.#queue.push({ connection, request });
    else connection.send(this.#answer(request, body));
  }

  /** A shell of ours is done: the next one may begin. What a daemon asked for that is gone is nobody's wish. */
  #onStarted(run: OwnedRun): void {
    if (!this.#starting.delete(run)) return;
    while (this.#starting.size < MOST_STARTING) {
      const next = this.#queue.shift();
      if (next === undefined) return;
      if (next.connection === this.#daemon) next.connection.send(this.#start(next.request));
    }
  }

  #welcome(connection: DaemonConnection, protocol: number, rootId: string): void {
    const self = { protocol: OWNER_PROTOCOL, pid: process.pid };
    const reason = this.#refusal(protocol, rootId);
    if (reason !== undefined) {
      connection.end({ type: 'refused', ...self, reason });
      return;
    }
    const before = this.#daemon;
    this.#daemon = connection;
    before?.end({ type: 'replaced' });
    connection.send({ type: 'welcome', ...self, held: [...this.#runs.values()].map((run) => run.held) });
  }

  #refusal(protocol: number, rootId: string): string | undefined {
    if (protocol !== OWNER_PROTOCOL) return `it speaks protocol ${OWNER_PROTOCOL}`;
    return rootId === this.#options.rootId ? undefined : 'it belongs to another root';
  }

  #answer(request: RunRequest, body: Buffer): OwnerMessage {
    switch (request.type) {
      case 'start':
        return this.#start(request);
      case 'write':
        return this.#write(request, body);
      case 'acknowledge':
        return this.#acknowledge(request);
    }
  }

  #start(request: StartRequest): OwnerMessage {
    const failed = (message: string) => failure(request.id, 'DRV_RUNTIME_START_FAILED', message);
    const other = this.#liveRunOf(request.instanceId);
    if (other !== undefined)
      return failed(`instance ${request.instanceId} already runs, as pid ${other.pid}`);
    if (this.#runs.has(keyOf(request))) return failed(`run ${request.run} has already been`);
    this.#hangUpEarlierRuns(request.instanceId);
    try {
      const run = new OwnedRun(request, {
        native: this.#options.native,
        buffer: this.#buffer,
        hasBash: this.#hasBash,
        inheritable: this.#inheritable(),
        onReady: (started) => this.#onStarted(started),
        onExit: (ended) => this.#onExit(ended),
      });
      this.#starting.add(run);
      this.#runs.set(keyOf(run), run);
      return { type: 'done', id: request.id, process: { pid: run.pid, startTime: run.startTime } };
    } catch (error) {
      return failed(publicMessage(error));
    }
  }

  #write(request: OwnerRun & { id: number }, body: Buffer): OwnerMessage {
    const run = this.#runs.get(keyOf(request));
    if (run === undefined || run.exit !== null)
      return failure(request.id, 'DRV_INSTANCE_NOT_RUNNING', `instance ${request.instanceId} is not running`);
    // A copy: the frame's bytes are part of a larger buffer that must not be held.
    if (run.write(Buffer.from(body))) return { type: 'done', id: request.id };
    return failure(request.id, 'DRV_STDIN_FULL', 'the process is not reading its standard input');
  }

  #acknowledge(request: OwnerRun & { id: number }): OwnerMessage {
    const run = this.#runs.get(keyOf(request));
    if (run !== undefined && run.exit !== null) this.#forget(run);
    return { type: 'done', id: request.id };
  }

  #onExit(run: OwnedRun): void {
    this.#onStarted(run);
    const { instanceId, exit } = run;
    if (exit === null) return;
    this.#daemon?.send({ type: 'exit', instanceId, run: run.run, exit });
    const ended = [...this.#runs.values()].filter((other) => other.exit !== null);
    for (const old of ended.slice(0, Math.max(0, ended.length - MOST_EXITS))) this.#forget(old);
  }

  #forget(run: OwnedRun): void {
    run.close();
    this.#runs.delete(keyOf(run));
    this.#checkIdle();
  }

  #liveRunOf(instanceId: string): OwnedRun | undefined {
    for (const run of this.#runs.values()) if (run.instanceId === instanceId && run.exit === null) return run;
    return undefined;
  }

  /** Two writers on one log would tear its lines. */
  #hangUpEarlierRuns(instanceId: string): void {
    for (const run of this.#runs.values()) if (run.instanceId === instanceId) run.close();
  }

  #inheritable(): number[] {
    return [...this.#inherited, ...[...this.#runs.values()].flatMap((run) => run.inheritable ?? [])];
  }

  #checkIdle(): void {
    if (this.isIdle) this.#options.onIdle();
  }
}

function keyOf(run: OwnerRun): string {
  return `${run.instanceId}/${run.run}`;
}

function failure(id: number, code: ErrorCode, message: string): OwnerMessage {
  return { type: 'failed', id, code, message };
}
