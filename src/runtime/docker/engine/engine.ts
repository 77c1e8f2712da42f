/**
 * The container engine as the docker runtime uses it: few requests, each bounded in time, every answer checked.
 * Throws EngineRefusal when the engine refuses, DRV_RUNTIME_UNAVAILABLE when it does not answer. Decides nothing.
 */
import { setMaxListeners } from 'node:events';
import { type Duplex, Readable } from 'node:stream';
import type Docker from 'dockerode';
import type { ContainerCreateOptions, ContainerLogsOptions } from 'dockerode';
import { z } from 'zod';
import type { Clock } from '../../../loop/clock.js';
import { withDeadline } from '../../../loop/deadline.js';
import type { Usage } from '../../runtime.js';
import { attachStdin } from './attach.js';
import type { ContainerState } from './container-exit.js';
import { ROOT_LABEL } from './container-options.js';
import { toEngineError, unavailable } from './engine-error.js';
import { statsSchema, usageOf } from './engine-stats.js';

const PROBE_LIMIT_MS = 3000;
const CALL_LIMIT_MS = 10_000;
/** The limit for creating a container: some storage drivers copy a whole image. */
const CREATE_LIMIT_MS = 120_000;
/** How soon sockets of abandoned requests are closed. */
const SOCKET_LIMIT_MS = 15_000;

const versionSchema = z.object({
  Version: z.string(),
  Components: z.array(z.object({ Name: z.string() })).nullish(),
});
const stateSchema = z.object({
  Running: z.boolean(),
  Pid: z.int().default(0),
  Status: z.string().default(''),
  ExitCode: z.int(),
  OOMKilled: z.boolean().default(false),
  FinishedAt: z.string().default(''),
});
const inspectSchema = z.object({ State: stateSchema });
const listSchema = z.array(
  z.object({ Id: z.string(), Labels: z.record(z.string(), z.string()).nullish(), State: z.string() }),
);
const networksSchema = z.array(z.object({ Name: z.string() }));

export interface EngineVersion {
  readonly text: string;
  readonly isPodman: boolean;
}

export interface Inspected extends ContainerState {
  readonly isRunning: boolean;
  /** Pid of the main process, by the engine's count; 0: none. */
  readonly pid: number;
  readonly isBeingRemoved: boolean;
}

export interface ListedContainer {
  readonly id: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Created, and never started. */
  readonly isNew: boolean;
  readonly isLive: boolean;
}

interface Clients {
  readonly calls: Docker;
  /** Without a limit on silence. */
  readonly streams: Docker;
}

export class Engine {
  readonly socketPath: string;
  readonly #clock: Clock;
  readonly #closed = new AbortController();
  /** Loaded at first use: the client takes 200 ms to load, and most machines have no engine. */
  #clients: Promise<Clients> | undefined;

  constructor(socketPath: string, clock: Clock) {
    this.socketPath = socketPath;
    this.#clock = clock;
    // One for each request and stream under way.
    setMaxListeners(0, this.#closed.signal);
  }

  /** Ends every request and stream. Idempotent. */
  close(): void {
    this.#closed.abort(unavailable('this runtime was released'));
  }

  async version(): Promise<EngineVersion> {
    const said = await this.#call('say its version', ({ calls }) => calls.version(), PROBE_LIMIT_MS);
    const { Version, Components } = versionSchema.parse(said);
    const isPodman = Components?.some(({ Name }) => Name.startsWith('Podman')) === true;
    return { text: isPodman ? `Podman ${Version}` : Version, isPodman };
  }

  async networkNames(): Promise<ReadonlySet<string>> {
    const networks = await this.#call('list its networks', ({ calls }) => calls.listNetworks());
    return new Set(networksSchema.parse(networks).map(({ Name }) => Name));
  }

  /** Throws EngineRefusal 404 when there is none. */
  async requireImage(name: string): Promise<void> {
    await this.#call('look for an image', ({ calls }) => calls.getImage(name).inspect());
  }

  /** The engine's report of a pull under way: lines of JSON, one for each piece of news. */
  pull(image: string, signal: AbortSignal): Promise<Readable> {
    return this.#stream('pull an image', signal, async ({ streams }, abortSignal) =>
      streams.pull(image, { abortSignal }),
    );
  }

  /** Resolves with its id. */
  async create({ name, ...body }: ContainerCreateOptions): Promise<string> {
    const create = async ({ streams }: Clients, abortSignal: AbortSignal): Promise<string> => {
      // A body of its own: otherwise the client puts all of it, the environment too, into the request's URL.
      const options = { _query: { name }, _body: body, abortSignal };
      return (await streams.createContainer(options)).id;
    };
    return await this.#call('create a container', create, CREATE_LIMIT_MS);
  }

  async start(id: string): Promise<void> {
    await this.#call(
      'start a container',
      ({ streams }, abortSignal) => streams.getContainer(id).start({ abortSignal }),
      CREATE_LIMIT_MS,
    );
  }

  async kill(id: string, signal: NodeJS.Signals): Promise<void> {
    await this.#call('signal a container', ({ calls }) => calls.getContainer(id).kill({ signal }));
  }

  /** Removes a container with its anonymous volumes; ends it when it runs. */
  async remove(id: string): Promise<void> {
    await this.#call('remove a container', ({ calls }) =>
      calls.getContainer(id).remove({ force: true, v: true }),
    );
  }

  async inspect(id: string): Promise<Inspected> {
    const said = await this.#call('inspect a container', ({ calls }) => calls.getContainer(id).inspect());
    const { State } = inspectSchema.parse(said);
    return {
      isRunning: State.Running,
      pid: State.Pid,
      isBeingRemoved: State.Status === 'removing' || State.Status === 'dead',
      exitCode: State.ExitCode,
      isOutOfMemory: State.OOMKilled,
      finishedAt: State.FinishedAt,
    };
  }

  /** The containers of this root, including ended ones. */
  async list(rootId: string): Promise<readonly ListedContainer[]> {
    const filters = { label: [`${ROOT_LABEL}=${rootId}`] };
    const said = await this.#call('list containers', ({ calls }) =>
      calls.listContainers({ all: true, filters }),
    );
    return listSchema.parse(said).map(({ Id, Labels, State }) => ({
      id: Id,
      labels: Labels ?? {},
      isNew: State === 'created' || State === 'initialized',
      isLive: State === 'running' || State === 'paused' || State === 'restarting',
    }));
  }

  /** Both streams, each message with its instant, until the container ends. `since`: Unix seconds. */
  logs(id: string, since: string | undefined, signal: AbortSignal): Promise<Readable> {
    return this.#stream('follow a log', signal, ({ streams }, abortSignal) =>
      streams.getContainer(id).logs({ ...shownSince(since), follow: true, abortSignal }),
    );
  }

  /** The same up to now. */
  async logsSoFar(id: string, since: string | undefined, signal: AbortSignal): Promise<Readable> {
    const said = await this.#bounded('show a log', CALL_LIMIT_MS, signal, ({ streams }, abortSignal) =>
      streams.getContainer(id).logs({ ...shownSince(since), follow: false, abortSignal }),
    );
    return Readable.from([said]);
  }

  /** A stream to the container's standard input. */
  async attach(id: string, signal: AbortSignal): Promise<Duplex> {
    const { socketPath } = this;
    const either = AbortSignal.any([signal, this.#closed.signal]);
    const connection = await this.#bounded(
      'attach to a container',
      CALL_LIMIT_MS,
      either,
      (_clients, inner) =>
        attachStdin({ socketPath, containerId: id, signal: AbortSignal.any([either, inner]) }),
    );
    either.addEventListener('abort', () => connection.destroy(), { once: true });
    return connection;
  }

  /** Lines of JSON: ends and removals of this root's containers, from now on. */
  events(rootId: string, signal: AbortSignal): Promise<Readable> {
    const label = [`${ROOT_LABEL}=${rootId}`];
    // Podman before 4.4 knows `died` alone in a filter, and still tells of `die`.
    const event = ['die', 'died', 'destroy', 'remove'];
    const filters = JSON.stringify({ type: ['container'], event, label });
    return this.#stream('tell events', signal, async ({ streams }, abortSignal) => {
      const options = { filters, abortSignal };
      return streams.getEvents(options);
    });
  }

  async usage(id: string): Promise<Usage> {
    const said = await this.#call('measure a container', ({ calls }) =>
      calls.getContainer(id).stats({ stream: false, 'one-shot': true }),
    );
    return usageOf(statsSchema.parse(said));
  }

  async #call<T>(
    what: string,
    ask: (clients: Clients, signal: AbortSignal) => Promise<T>,
    limitMs = CALL_LIMIT_MS,
  ): Promise<T> {
    return await this.#bounded(what, limitMs, this.#closed.signal, ask);
  }

  /** The limit is on the beginning of the answer. The stream itself lives until it ends or `signal` aborts. */
  async #stream(
    what: string,
    signal: AbortSignal,
    open: (clients: Clients, signal: AbortSignal) => Promise<NodeJS.ReadableStream>,
  ): Promise<Readable> {
    const either = AbortSignal.any([signal, this.#closed.signal]);
    const stream = await this.#bounded(what, CALL_LIMIT_MS, either, (clients, inner) =>
      open(clients, AbortSignal.any([either, inner])),
    );
    if (stream instanceof Readable) return stream;
    throw unavailable('the container engine gave nothing to read from');
  }

  async #bounded<T>(
    what: string,
    limitMs: number,
    signal: AbortSignal,
    ask: (clients: Clients, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const expired = (): Error =>
      unavailable(`the container engine did not ${what} within ${limitMs / 1000} s; look at the engine`);
    try {
      const clients = await this.#load();
      return await withDeadline({ limitMs, clock: this.#clock, signal, expired }, (inner) =>
        ask(clients, inner),
      );
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw toEngineError(error);
    }
  }

  #load(): Promise<Clients> {
    this.#clients ??= loadClients(this.socketPath);
    return this.#clients;
  }
}

/** Podman refuses an empty `since`, as undefined would be sent. */
function shownSince(
  since: string | undefined,
): Pick<ContainerLogsOptions, 'stdout' | 'stderr' | 'timestamps' | 'since'> {
  return { stdout: true, stderr: true, timestamps: true, ...(since === undefined ? {} : { since }) };
}

async function loadClients(socketPath: string): Promise<Clients> {
  const { default: Client } = await import('dockerode');
  // A kept connection would break when the engine restarts, at the very request that should find it well. Not by an
  // agent of our own: the client prints its options at every request, and an agent holds all connections there are.
  const shared = { socketPath, headers: { Connection: 'close' } };
  return { calls: new Client({ ...shared, timeout: SOCKET_LIMIT_MS }), streams: new Client(shared) };
}
