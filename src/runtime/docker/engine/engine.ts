/**
 * The container engine as the docker runtime uses it: few requests, each bounded in time, every answer checked.
 * Throws EngineRefusal when the engine refuses, DRV_RUNTIME_UNAVAILABLE when it does not answer. Decides nothing.
 */

import { setMaxListeners } from 'node:events';
import { type Duplex, Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { z } from 'zod';
import type { Clock } from '../../../loop/clock.js';
import { withDeadline } from '../../../loop/deadline.js';
import { unavailable } from '../../failures.js';
import type { Usage } from '../../runtime.js';
import type { ContainerState } from './container-exit.js';
import { type ContainerOptions, ROOT_LABEL } from './container-options.js';
import { toEngineError } from './engine-error.js';
import { ask, type EngineRequest, upgrade } from './engine-request.js';

const PROBE_LIMIT_MS = 3000;
const CALL_LIMIT_MS = 10_000;
/** The limit for creating a container: some storage drivers copy a whole image. */
const CREATE_LIMIT_MS = 120_000;

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
const createdSchema = z.object({ Id: z.string() });
const inspectSchema = z.object({ State: stateSchema });
const listSchema = z.array(
  z.object({ Id: z.string(), Labels: z.record(z.string(), z.string()).nullish(), State: z.string() }),
);
const networksSchema = z.array(z.object({ Name: z.string() }));

export interface Inspected extends ContainerState {
  readonly isRunning: boolean;
  /** Pid of the main process in the engine's PID namespace; 0: there is no process. */
  readonly pid: number;
  readonly isBeingRemoved: boolean;
}

export interface ListedContainer {
  readonly id: string;
  readonly labels: Readonly<Record<string, string>>;
  /** True when the container was created but never started. */
  readonly isNew: boolean;
  readonly isLive: boolean;
}

export class Engine {
  readonly socketPath: string;
  readonly #clock: Clock;
  readonly #closed = new AbortController();

  constructor(socketPath: string, clock: Clock) {
    this.socketPath = socketPath;
    this.#clock = clock;
    // Allow any number of listeners: each request and stream under way adds one.
    setMaxListeners(0, this.#closed.signal);
  }

  /** Ends every request and stream. Idempotent. */
  close(): void {
    this.#closed.abort(unavailable('this runtime was released'));
  }

  async version(): Promise<{ readonly text: string; readonly isPodman: boolean }> {
    const said = await this.#call('say its version', { path: '/version' }, PROBE_LIMIT_MS);
    const { Version, Components } = versionSchema.parse(said);
    const isPodman = Components?.some(({ Name }) => Name.startsWith('Podman')) === true;
    return { text: isPodman ? `Podman ${Version}` : Version, isPodman };
  }

  async networkNames(): Promise<ReadonlySet<string>> {
    const networks = await this.#call('list its networks', { path: '/networks' });
    return new Set(networksSchema.parse(networks).map(({ Name }) => Name));
  }

  /** Resolves when the engine has the image. Throws EngineRefusal 404 when the engine does not have it. */
  async requireImage(name: string): Promise<void> {
    await this.#call('look for an image', { path: `/images/${name}/json` });
  }

  /** The engine's report of a pull under way: JSON lines, one for each step of progress. */
  pull(image: string, signal: AbortSignal): Promise<Readable> {
    const asked: EngineRequest = { method: 'POST', path: '/images/create', query: { fromImage: image } };
    return this.#stream('pull an image', asked, signal);
  }

  /** Creates a container and resolves with its id. */
  async create({ name, ...body }: ContainerOptions): Promise<string> {
    const asked: EngineRequest = { method: 'POST', path: '/containers/create', query: { name }, body };
    return createdSchema.parse(await this.#call('create a container', asked, CREATE_LIMIT_MS)).Id;
  }

  async start(id: string): Promise<void> {
    const asked: EngineRequest = { method: 'POST', path: `/containers/${id}/start` };
    await this.#call('start a container', asked, CREATE_LIMIT_MS);
  }

  async kill(id: string, signal: NodeJS.Signals): Promise<void> {
    const path = `/containers/${id}/kill`;
    await this.#call('signal a container', { method: 'POST', path, query: { signal } });
  }

  /** Removes a container with its anonymous volumes, also when it runs. */
  async remove(id: string): Promise<void> {
    const query = { force: 'true', v: 'true' };
    await this.#call('remove a container', { method: 'DELETE', path: `/containers/${id}`, query });
  }

  async inspect(id: string): Promise<Inspected> {
    const said = await this.#call('inspect a container', { path: `/containers/${id}/json` });
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
    const query = { all: 'true', filters: JSON.stringify({ label: [`${ROOT_LABEL}=${rootId}`] }) };
    const said = await this.#call('list containers', { path: '/containers/json', query });
    return listSchema.parse(said).map(({ Id, Labels, State }) => ({
      id: Id,
      labels: Labels ?? {},
      isNew: State === 'created' || State === 'initialized',
      isLive: State === 'running' || State === 'paused' || State === 'restarting',
    }));
  }

  /** Both streams of output, each message with its instant, until the container ends. `since`: Unix seconds. */
  logs(id: string, since: string | undefined, signal: AbortSignal): Promise<Readable> {
    return this.#stream('follow a log', logRequest(id, since, true), signal);
  }

  /** Like `logs`, but ends with the output that exists now instead of following the container. */
  async logsSoFar(id: string, since: string | undefined, signal: AbortSignal): Promise<Readable> {
    const asked = logRequest(id, since, false);
    const read = async (either: AbortSignal) => buffer(await ask(this.socketPath, asked, either));
    return Readable.from([await this.#bounded('show a log', read, { signal })]);
  }

  /** A stream to the container's standard input, which an abort of `signal` closes. */
  attach(id: string, signal: AbortSignal): Promise<Duplex> {
    const query = { stream: 'true', stdin: 'true' };
    const asked: EngineRequest = { method: 'POST', path: `/containers/${id}/attach`, query };
    const open = async (either: AbortSignal): Promise<Duplex> => {
      const connection = await upgrade(this.socketPath, asked, either);
      either.addEventListener('abort', () => connection.destroy(), { once: true });
      return connection;
    };
    return this.#bounded('attach to a container', open, { signal });
  }

  /** Lines of JSON: ends and removals of this root's containers, from now on. */
  events(rootId: string, signal: AbortSignal): Promise<Readable> {
    const label = [`${ROOT_LABEL}=${rootId}`];
    // Name both forms: Podman before 4.4 accepts only `died` in a filter, and still sends events named `die`.
    const event = ['die', 'died', 'destroy', 'remove'];
    const filters = JSON.stringify({ type: ['container'], event, label });
    return this.#stream('tell events', { path: '/events', query: { filters } }, signal);
  }

  async usage(id: string): Promise<Usage> {
    const query = { stream: 'false', 'one-shot': 'true' };
    const said = await this.#call('measure a container', { path: `/containers/${id}/stats`, query });
    return usageOf(statsSchema.parse(said));
  }

  /** Sends a request. Resolves with the answer's JSON; undefined: the answer has no body. */
  async #call(what: string, asked: EngineRequest, limitMs = CALL_LIMIT_MS): Promise<unknown> {
    const read = async (either: AbortSignal) => text(await ask(this.socketPath, asked, either));
    const said = await this.#bounded(what, read, { limitMs });
    return said === '' ? undefined : JSON.parse(said);
  }

  /**
   * Opens a stream. The time limit covers only the beginning of the answer; the stream lives until it ends or `signal`
   * aborts.
   */
  #stream(what: string, asked: EngineRequest, signal: AbortSignal): Promise<Readable> {
    return this.#bounded(what, (either) => ask(this.socketPath, asked, either), { signal });
  }

  /**
   * Runs `work` within the limit. The signal given to `work` aborts when `signal` aborts, when the time is over, or
   * when this engine is closed.
   */
  async #bounded<T>(
    what: string,
    work: (either: AbortSignal) => Promise<T>,
    { limitMs = CALL_LIMIT_MS, signal: caller }: { limitMs?: number; signal?: AbortSignal },
  ): Promise<T> {
    const signal = AbortSignal.any([this.#closed.signal, ...(caller === undefined ? [] : [caller])]);
    const expired = (): Error =>
      unavailable(`the container engine did not ${what} within ${limitMs / 1000} s; look at the engine`);
    try {
      return await withDeadline({ limitMs, clock: this.#clock, signal, expired }, (inner) =>
        work(AbortSignal.any([signal, inner])),
      );
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw toEngineError(error);
    }
  }
}

/** The request for a log. An empty `since` is left out, because Podman refuses it. */
function logRequest(id: string, since: string | undefined, isFollowing: boolean): EngineRequest {
  const shown = { stdout: 'true', stderr: 'true', timestamps: 'true', follow: String(isFollowing) };
  return { path: `/containers/${id}/logs`, query: since === undefined ? shown : { ...shown, since } };
}

const NS_PER_S = 1e9;

/**
 * An engine's statistics of a container: only the used fields. The versions of control groups name them differently,
 * and an ended container has none.
 */
export const statsSchema = z.object({
  cpu_stats: z.object({ cpu_usage: z.object({ total_usage: z.number().default(0) }) }),
  memory_stats: z
    .object({
      usage: z.number().default(0),
      stats: z
        .object({ total_inactive_file: z.number().optional(), inactive_file: z.number().optional() })
        .default({}),
    })
    .default({ usage: 0, stats: {} }),
  pids_stats: z.object({ current: z.int().default(0) }).default({ current: 0 }),
});

/** Memory without the file cache that the kernel could take back, as the engines' own tools show it. */
export function usageOf(stats: z.output<typeof statsSchema>): Usage {
  const { usage, stats: details } = stats.memory_stats;
  const cache = details.total_inactive_file ?? details.inactive_file ?? 0;
  return {
    cpuSeconds: stats.cpu_stats.cpu_usage.total_usage / NS_PER_S,
    memoryBytes: Math.max(0, usage - cache),
    processes: stats.pids_stats.current,
  };
}
