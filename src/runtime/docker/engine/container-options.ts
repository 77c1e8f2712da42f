/** The request for the container of a start. Pure. */
import type { SegmentLimits } from '../../../logs/segments.js';
import { portsOf, protocolsOf } from '../../../model/fields/ports.js';
import type { Disk } from '../../limits/disk.js';
import { MOST_PROCESSES } from '../../limits/resource-limits.js';
import { AUTHORITY_IN_CONTAINER, type RunId, type StartSpec } from '../../runtime.js';
import type { DockerSettings } from './docker-settings.js';

const MB = 1024 * 1024;
/** The least memory that engines accept. */
const LEAST_MEMORY_BYTES = 6 * MB;
const CPU_PERIOD_US = 100_000;

export const ROOT_LABEL = 'drover.root';
const INSTANCE_LABEL = 'drover.instance';
const RUN_LABEL = 'drover.run';

interface ContainerFacts {
  readonly rootId: string;
  readonly spec: StartSpec;
  readonly settings: DockerSettings;
  /** Network mode, chosen from the networks that the engine has. */
  readonly network: string;
  /** The `user:group` for a configuration without one; undefined: the image decides. */
  readonly defaultUser: string | undefined;
  /** The size of the engine's own log, equal to the instance's log, so that output is kept while no daemon runs. */
  readonly log: SegmentLimits;
  /** True when the engine has an init program, which passes signals on and reaps children. */
  readonly hasInit: boolean;
  /** The disk with the working directory, if it has one. */
  readonly disk?: Disk | undefined;
}

/**
 * The container in the terms of the engine's API. `name` belongs in the request's URL, the other fields in its body.
 */
export type ContainerOptions = ReturnType<typeof containerOptions>;

export function containerOptions(facts: ContainerFacts) {
  const { spec, settings, network } = facts;
  const published = network === 'host' ? [] : portsOf(spec);
  const ports = published.flatMap(({ port, protocol }) =>
    protocolsOf(protocol).map((one) => [`${port}/${one}`, [{ HostPort: String(port) }]] as const),
  );
  const user = settings.dockerUser ?? facts.defaultUser;
  return {
    name: containerName(facts.rootId, spec),
    Image: settings.image,
    ...(settings.dockerEntrypoint === 'shell' && { Entrypoint: ['/bin/sh', '-c'], Cmd: [spec.command] }),
    ...(user !== undefined && { User: user }),
    Env: Object.entries(spec.environment).map(([name, value]) => `${name}=${value}`),
    WorkingDir: settings.dockerWorkdir,
    Labels: labelsOf(facts.rootId, spec),
    Tty: false,
    OpenStdin: true,
    StdinOnce: false,
    ExposedPorts: Object.fromEntries(ports.map(([port]) => [port, {}])),
    HostConfig: hostConfig(facts, Object.fromEntries(ports)),
  };
}

function hostConfig({ spec, settings, network, log, hasInit, disk }: ContainerFacts, bindings: object) {
  const memory = Math.max(spec.ramMB * MB, LEAST_MEMORY_BYTES);
  return {
    // Use `Mounts` instead of `Binds`: in `Binds` a colon in the path separates, and the engine creates a missing
    // directory.
    Mounts: [
      { Type: 'bind', Source: spec.workingDirectory, Target: settings.dockerWorkdir },
      ...(spec.apiAuthority === undefined
        ? []
        : [{ Type: 'bind', Source: spec.apiAuthority, Target: AUTHORITY_IN_CONTAINER, ReadOnly: true }]),
    ],
    NetworkMode: network,
    PortBindings: bindings,
    Memory: memory,
    MemorySwap: memory,
    // Set period and quota instead of NanoCpus, which engines refuse above the number of the machine's cores.
    ...(spec.cpu > 0 && { CpuPeriod: CPU_PERIOD_US, CpuQuota: (spec.cpu / 100) * CPU_PERIOD_US }),
    PidsLimit: spec.pids ?? MOST_PROCESSES,
    ...(spec.ioWeight !== undefined && { BlkioWeight: spec.ioWeight }),
    ...(disk && spec.readMBps && { BlkioDeviceReadBps: [{ Path: disk.path, Rate: spec.readMBps * MB }] }),
    ...(disk && spec.writeMBps && { BlkioDeviceWriteBps: [{ Path: disk.path, Rate: spec.writeMBps * MB }] }),
    ...(spec.nofile !== undefined && {
      Ulimits: [{ Name: 'nofile', Soft: spec.nofile.soft, Hard: spec.nofile.hard }],
    }),
    LogConfig: {
      Type: 'json-file',
      Config: { 'max-size': String(log.segmentBytes), 'max-file': String(log.segments) },
    },
    ...(hasInit && { Init: true }),
    AutoRemove: false,
    RestartPolicy: { Name: 'no' },
  };
}

function containerName(rootId: string, { instanceId, run }: RunId): string {
  return `drover-${rootId}-${instanceId}-${run}`;
}

function labelsOf(rootId: string, { instanceId, run }: RunId): Record<string, string> {
  return { [ROOT_LABEL]: rootId, [INSTANCE_LABEL]: instanceId, [RUN_LABEL]: String(run) };
}

/** The run of a container with these labels; undefined: the container is not this root's. */
export function runOfLabels(
  rootId: string,
  labels: Readonly<Record<string, string>> | null | undefined,
): RunId | undefined {
  if (labels?.[ROOT_LABEL] !== rootId) return undefined;
  const instanceId = labels[INSTANCE_LABEL];
  const run = Number(labels[RUN_LABEL]);
  return instanceId === undefined || !Number.isInteger(run) ? undefined : { instanceId, run };
}
