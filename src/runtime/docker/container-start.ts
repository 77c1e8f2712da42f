/**
 * Starts one container: image, settings, container, log, start, in this order. A start that fails leaves nothing
 * behind.
 */
import { ownUser } from '../../files/own-user.js';
import type { Clock } from '../../loop/clock.js';
import type { ContainerIdentity } from '../../model/run/run-identity.js';
import { startFailed } from '../failures.js';
import { diskUnder } from '../limits/disk.js';
import { checkDirectory } from '../owner/run-start.js';
import { checkSpec } from '../owner/start-spec.js';
import type { StartSpec } from '../runtime.js';
import type { ContainerRun } from './container-run.js';
import { containerOptions } from './engine/container-options.js';
import { type DockerSettings, readDockerSettings } from './engine/docker-settings.js';
import type { Engine } from './engine/engine.js';
import { EngineRefusal } from './engine/engine-error.js';
import type { EngineSession } from './engine-session.js';
import { provideImage } from './image-pull.js';

/** Networks that engines make by themselves, for containers that name none. */
const DEFAULT_NETWORKS = ['bridge', 'podman'];
const OWN_NETWORKS = new Set(['host', 'none']);

interface ContainerStart {
  readonly spec: StartSpec;
  readonly session: EngineSession;
  readonly rootId: string;
  /** Cancels a pull. The steps after the pull are quick and are not cancelled. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/**
 * Starts the container. Throws DRV_RUNTIME_START_FAILED for the operator, DRV_RUNTIME_UNAVAILABLE, or the signal's
 * reason.
 */
export async function startContainer(start: ContainerStart): Promise<ContainerIdentity> {
  const { spec, session, signal, clock } = start;
  checkSpec(spec);
  checkDirectory(spec.workingDirectory);
  await refuseSecond(start);
  const settings = readDockerSettings(spec);
  try {
    const { engine } = session;
    await provideImage({ engine, settings, signal, clock, onProgress: spec.onProgress ?? (() => undefined) });
    signal.throwIfAborted();
    // Check again after the pull, which may take minutes.
    await refuseSecond(start);
    return await launchWithInit(start, settings);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof EngineRefusal)
      throw startFailed(`the container engine refuses: ${error.message}`, error);
    throw error;
  }
}

/**
 * Creates the container, without an init program when the engine has none. Programs then handle signals and children
 * themselves.
 */
async function launchWithInit(start: ContainerStart, settings: DockerSettings): Promise<ContainerIdentity> {
  try {
    return await launch(start, settings);
  } catch (error) {
    if (!start.session.hasInit || !isInitMissing(error)) throw error;
    start.session.noteNoInit();
    return await launch(start, settings);
  }
}

function isInitMissing(error: unknown): boolean {
  return (
    error instanceof EngineRefusal &&
    /docker-init|catatonit|init binary/i.test(error.message) &&
    /no such file|not found/i.test(error.message)
  );
}

async function launch(start: ContainerStart, settings: DockerSettings): Promise<ContainerIdentity> {
  const { session } = start;
  const id = await create(start, settings);
  let run: ContainerRun | undefined;
  try {
    run = session.open(start.spec, id);
    await session.engine.start(id);
    run.follow();
    return run.identity;
  } catch (error) {
    await session.discard(id, run);
    throw error;
  }
}

async function create({ spec, session, rootId }: ContainerStart, settings: DockerSettings): Promise<string> {
  const { engine, limits } = session;
  const facts = {
    rootId,
    spec,
    settings,
    network: await networkOf(engine, settings),
    defaultUser: await defaultUser(engine),
    log: limits,
    hasInit: session.hasInit,
    disk: diskUnder(spec.workingDirectory),
  };
  return await engine.create(containerOptions(facts));
}

async function networkOf(engine: Engine, { dockerNetwork }: DockerSettings): Promise<string> {
  if (dockerNetwork !== undefined && OWN_NETWORKS.has(dockerNetwork)) return dockerNetwork;
  const names = await engine.networkNames();
  const hasDefault = DEFAULT_NETWORKS.some((name) => names.has(name));
  if (dockerNetwork === undefined) return hasDefault ? 'bridge' : 'host';
  if (dockerNetwork === 'bridge' ? hasDefault : names.has(dockerNetwork)) return dockerNetwork;
  throw startFailed(
    `property dockerNetwork: the container engine has no network ${dockerNetwork}; make it, or use host`,
  );
}

/**
 * The user of a container whose configuration names no user: Drover's own, so that Drover can remove what the program
 * writes. Undefined: the image decides, because Drover is root, or because root in a Podman container is Drover's own
 * user.
 */
async function defaultUser(engine: Engine): Promise<string | undefined> {
  const { uid, gid } = ownUser();
  if (uid === 0 || (await engine.version()).isPodman) return undefined;
  return `${uid}:${gid}`;
}

async function refuseSecond({ spec, session }: ContainerStart): Promise<void> {
  const last = session.liveOf(spec.instanceId);
  // A failed start may have left its container behind: remove the container now.
  if (last?.isAcknowledged === true) await session.remove(last);
  const live = session.liveOf(spec.instanceId);
  if (live !== undefined)
    throw startFailed(
      `instance ${spec.instanceId} runs already, in container ${live.containerId.slice(0, 12)}`,
    );
}
