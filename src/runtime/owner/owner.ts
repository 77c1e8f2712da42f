/**
 * The owner: holds the runs of one runtime of a root, has their logs written, and remembers their exits until a daemon
 * acknowledges them. It decides nothing: it never starts, stops or restarts a run on its own, and keeps running without
 * a daemon. Its source makes the runs.
 */
import type { Socket } from 'node:net';
import type { ErrorCode } from '../../model/errors.js';
import { publicMessage } from '../../model/public-message.js';
import { keyOf } from '../runtime.js';
import { AttachedTerminals } from './attached-terminals.js';
import { DaemonConnection } from './daemon-connection.js';
import type { HeldRun, RunSource } from './held-run.js';
import {
  type AttachRequest,
  OWNER_PROTOCOL,
  type OwnerMessage,
  type OwnerRequest,
  type OwnerRun,
  type StartRequest,
} from './protocol.js';

/**
 * How many shells may be on the way to their command at once. A hundred at once would take the processors from the
 * daemon for a third of a second.
 */
const MOST_STARTING = 4;
/** How many unacknowledged exits are kept; beyond that the oldest are forgotten. */
const MOST_EXITS = 10_000;

type RunRequest = Extract<OwnerRequest, { type: 'start' | 'write' | 'acknowledge' }>;

export class Owner {
  readonly #rootId: string;
  readonly #source: RunSource;
  readonly #onIdle: () => void;
  readonly #runs = new Map<string, HeldRun>();
  /** Keys of the runs whose shell has not become the command yet. */
  readonly #starting = new Set<string>();
  /** Starts under way, by instance id. */
  readonly #pending = new Map<string, Promise<unknown>>();
  /** Removals of acknowledged runs that are under way. */
  readonly #leaving = new Set<Promise<void>>();
  readonly #terminals = new AttachedTerminals();
  /** Starts that wait until fewer than `MOST_STARTING` are under way. */
  readonly #queue: { readonly connection: DaemonConnection; readonly request: StartRequest }[] = [];
  #daemon: DaemonConnection | undefined;

  /** `onIdle`: called whenever the owner holds nothing: no process, no exit, no daemon. */
  constructor(rootId: string, source: RunSource, onIdle: () => void) {
    this.#rootId = rootId;
    this.#source = source;
    this.#onIdle = onIdle;
  }

  get isIdle(): boolean {
    return (
      this.#runs.size + this.#pending.size + this.#leaving.size === 0 &&
      this.#queue.length === 0 &&
      this.#daemon === undefined
    );
  }

  /** Takes over a run that an earlier owner left. Called before the first connection is accepted. */
  hold(run: HeldRun): void {
    this.#runs.set(keyOf(run), run);
  }

  /** Called by a run's source when the run has ended: reports it to the daemon. */
  noteExit(run: HeldRun): void {
    this.#onStarted(run);
    const { instanceId, exit } = run;
    if (exit === null) return;
    this.#daemon?.send({ type: 'exit', instanceId, run: run.run, exit });
    this.#terminals.endOf(run, exit);
    const ended = [...this.#runs.values()].filter((other) => other.exit !== null);
    for (const old of ended.slice(0, Math.max(0, ended.length - MOST_EXITS))) this.#forget(old);
  }

  /** Takes a connection, which becomes the daemon's after a matching hello. */
  accept(socket: Socket): void {
    const onClose = (connection: DaemonConnection): void => {
      this.#terminals.detach(connection);
      if (connection !== this.#daemon) return;
      this.#daemon = undefined;
      this.#checkIdle();
    };
    new DaemonConnection(socket, (...request) => this.#onRequest(...request), onClose);
  }

  #onRequest(connection: DaemonConnection, request: OwnerRequest, body: Buffer): void {
    if (request.type === 'hello') this.#welcome(connection, request.protocol, request.rootId);
    else if (request.type === 'attach') this.#attach(connection, request);
    else if (request.type === 'input') this.#terminals.write(connection, Buffer.from(body));
    else if (request.type === 'resize') this.#terminals.resize(connection, request);
    else if (connection !== this.#daemon) return;
    else if (request.type === 'start' && this.#starting.size >= MOST_STARTING)
      this.#queue.push({ connection, request });
    else this.#answer(connection, request, body);
  }

  /** Begins the next waiting starts when a shell is done. Drops starts of a daemon that is gone. */
  #onStarted(run: OwnerRun): void {
    if (!this.#starting.delete(keyOf(run))) return;
    while (this.#starting.size < MOST_STARTING) {
      const next = this.#queue.shift();
      if (next === undefined) return;
      if (next.connection === this.#daemon) this.#answerStart(next.connection, next.request);
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
    const welcome = (): void => {
      const held = [...this.#runs.values()].map((run) => run.held);
      connection.send({ type: 'welcome', ...self, held });
    };
    // Wait for pending starts, so that the list includes starts that an earlier daemon asked for.
    if (this.#pending.size === 0) welcome();
    else void Promise.allSettled(this.#pending.values()).then(welcome);
  }

  #attach(connection: DaemonConnection, request: AttachRequest): void {
    const run = request.rootId === this.#rootId ? this.#runs.get(keyOf(request)) : undefined;
    void this.#terminals.attach(connection, run, request);
  }

  #refusal(protocol: number, rootId: string): string | undefined {
    if (protocol !== OWNER_PROTOCOL) return `it speaks protocol ${OWNER_PROTOCOL}`;
    return rootId === this.#rootId ? undefined : 'it belongs to another root';
  }

  #answer(connection: DaemonConnection, request: RunRequest, body: Buffer): void {
    switch (request.type) {
      case 'start':
        this.#answerStart(connection, request);
        return;
      case 'write':
        // A copy: the frame's bytes are part of a larger buffer, which must not stay in memory.
        void this.#write(request, Buffer.from(body)).then((answer) => connection.send(answer));
        return;
      case 'acknowledge':
        connection.send(this.#acknowledge(request));
    }
  }

  #answerStart(connection: DaemonConnection, request: StartRequest): void {
    const problem = this.#problemOf(request);
    if (problem !== undefined) {
      connection.send(failure(request.id, 'DRV_RUNTIME_START_FAILED', problem));
      return;
    }
    this.#hangUpEarlierRuns(request.instanceId);
    this.#starting.add(keyOf(request));
    const pending = this.#start(request).then((answer) => {
      this.#pending.delete(request.instanceId);
      connection.send(answer);
      this.#checkIdle();
    });
    this.#pending.set(request.instanceId, pending);
  }

  #problemOf(request: StartRequest): string | undefined {
    const { instanceId } = request;
    if (this.#pending.has(instanceId)) return `instance ${instanceId} is being started`;
    const other = this.#liveRunOf(instanceId);
    if (other !== undefined) return `instance ${instanceId} already runs, as pid ${other.held.pid}`;
    return this.#runs.has(keyOf(request)) ? `run ${request.run} was started before` : undefined;
  }

  async #start(request: StartRequest): Promise<OwnerMessage> {
    try {
      const run = await this.#source.start(request, {
        onReady: (started) => this.#onStarted(started),
        onExit: (ended) => this.noteExit(ended),
      });
      this.#runs.set(keyOf(run), run);
      const { pid, startTime, session } = run.held;
      return {
        type: 'done',
        id: request.id,
        process: { pid, startTime, ...(session !== undefined && { session }) },
      };
    } catch (error) {
      this.#onStarted(request);
      return failure(request.id, 'DRV_RUNTIME_START_FAILED', publicMessage(error));
    }
  }

  async #write(request: OwnerRun & { id: number }, bytes: Buffer): Promise<OwnerMessage> {
    const run = this.#runs.get(keyOf(request));
    if (run === undefined || run.exit !== null)
      return failure(request.id, 'DRV_INSTANCE_NOT_RUNNING', `instance ${request.instanceId} is not running`);
    try {
      if (await run.write(bytes)) return { type: 'done', id: request.id };
      return failure(request.id, 'DRV_STDIN_FULL', 'the process is not reading its standard input');
    } catch (error) {
      return failure(
        request.id,
        'DRV_RUNTIME_UNAVAILABLE',
        `instance ${request.instanceId} takes no input: ${publicMessage(error)}`,
      );
    }
  }

  #acknowledge(request: OwnerRun & { id: number }): OwnerMessage {
    const run = this.#runs.get(keyOf(request));
    if (run !== undefined && run.exit !== null) this.#forget(run);
    return { type: 'done', id: request.id };
  }

  #forget(run: HeldRun): void {
    this.#runs.delete(keyOf(run));
    const removal = Promise.resolve(run.forget())
      .catch((error: unknown) => process.stderr.write(`${keyOf(run)} could not be removed: ${error}\n`))
      .then(() => {
        this.#leaving.delete(removal);
        this.#checkIdle();
      });
    this.#leaving.add(removal);
  }

  #liveRunOf(instanceId: string): HeldRun | undefined {
    for (const run of this.#runs.values()) if (run.instanceId === instanceId && run.exit === null) return run;
    return undefined;
  }

  /** Closes earlier runs of the instance: two writers on one log would tear its lines. */
  #hangUpEarlierRuns(instanceId: string): void {
    for (const run of this.#runs.values()) if (run.instanceId === instanceId) run.close();
  }

  #checkIdle(): void {
    if (this.isIdle) this.#onIdle();
  }
}

function failure(id: number, code: ErrorCode, message: string): OwnerMessage {
  return { type: 'failed', id, code, message };
}
