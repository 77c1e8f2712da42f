/**
 * Reads from /proc on which ports the processes of a run listen, and who listens on a port. The supervisor asks, because
 * a program may take its port from a file that names another one.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PortProtocol } from '../model/fields/ports.js';
import { attempt } from '../model/plain/attempt.js';
import type { ProcessUsage } from './limits/process-usage.js';
import type { ResourceLimits } from './limits/resource-limits.js';
import type { SampledRun } from './limits/usage-sampler.js';

/** A TCP socket that accepts connections, or a UDP socket that is connected to nobody. */
interface ListeningSocket {
  readonly protocol: PortProtocol;
  readonly port: number;
  readonly inode: string;
}

const TABLES: readonly (readonly [file: string, protocol: PortProtocol, state: string])[] = [
  ['tcp', 'tcp', '0A'],
  ['tcp6', 'tcp', '0A'],
  ['udp', 'udp', '07'],
  ['udp6', 'udp', '07'],
];
/** How many other ports are named. */
const MOST_NAMED = 3;

/**
 * Whether the processes listen on the port, TCP or UDP. `elsewhere`: the ports on which they listen instead, such as
 * `tcp 31100`. `unknown`: this machine does not show it.
 */
export type PortFinding = 'listening' | 'unknown' | { readonly elsewhere: readonly string[] };

/**
 * Looks for a listener on the port. `isContainer`: the first process is the main process of a container, whose other
 * processes are not known, so every listener of its network counts as its own.
 */
export async function findListener(
  pids: readonly number[],
  port: number,
  isContainer: boolean,
): Promise<PortFinding> {
  const networks = networksOf(pids);
  if (networks.size === 0) return 'unknown';
  const found = (await Promise.all([...networks.values()].map(readSockets))).flat();
  const here = found.filter((socket) => socket.port === port);
  if (isContainer) return here.length > 0 ? 'listening' : { elsewhere: [] };
  const { inodes, isWhole } = await socketsOf(pids);
  // A process whose files are closed to Drover may hold any of the sockets.
  if (here.some(({ inode }) => inodes.has(inode)) || (!isWhole && here.length > 0)) return 'listening';
  const others = found.filter(({ inode }) => inodes.has(inode)).map((one) => `${one.protocol} ${one.port}`);
  return { elsewhere: [...new Set(others)].slice(0, MOST_NAMED) };
}

interface RunSources {
  readonly limits: Pick<ResourceLimits, 'pids'>;
  /** Absent: nothing is known of processes. */
  readonly processes: Pick<ProcessUsage, 'pids'> | undefined;
}

/** Looks whether a live run listens on the port. Throws when its runtime does not answer. */
export async function findListenerOf(
  run: SampledRun,
  port: number,
  { limits, processes }: RunSources,
): Promise<PortFinding> {
  if (run.pid === null) {
    const pid = await run.runtime.mainPid?.(run);
    return pid === undefined ? 'unknown' : findListener([pid], port, true);
  }
  if (processes === undefined) return 'unknown';
  const pids = new Set([...limits.pids(run), ...(await processes.pids({ run, pid: run.pid }))]);
  return findListener([...pids], port, false);
}

/** Names the program that listens on the port of this machine, such as `nginx, pid 4711`; undefined: unknown. */
export async function holderOfPort(port: number, protocol: PortProtocol): Promise<string | undefined> {
  const sockets = await readSockets(process.pid);
  const inodes = new Set(
    sockets.filter((one) => one.port === port && one.protocol === protocol).map(({ inode }) => inode),
  );
  if (inodes.size === 0) return undefined;
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    if (socketsOfProcess(pid)?.some((inode) => inodes.has(inode)) === true)
      return `${nameOf(pid)}, pid ${pid}`;
    await nextTurn();
  }
  return undefined;
}

/** The networks that the processes see, by name, each with one of its processes. */
function networksOf(pids: readonly number[]): ReadonlyMap<string, number> {
  const networks = new Map<string, number>();
  // A process may have ended, or be another user's.
  for (const pid of pids) attempt(() => networks.set(readlinkSync(`/proc/${pid}/ns/net`), pid));
  return networks;
}

async function readSockets(pid: number): Promise<ListeningSocket[]> {
  const tables = await Promise.all(
    TABLES.map(async ([file, protocol, state]) => {
      // A machine without IPv6 has no such table.
      const text = await readFile(`/proc/${pid}/net/${file}`, 'latin1').catch(() => '');
      return parseSockets(text, protocol, state);
    }),
  );
  return tables.flat();
}

/** The rows of a table of /proc/net that are in `state`. A connection of UDP has a state of its own. */
export function parseSockets(text: string, protocol: PortProtocol, state: string): ListeningSocket[] {
  const sockets: ListeningSocket[] = [];
  const row = new RegExp(
    `^ *\\d+: [0-9A-F]+:([0-9A-F]{4}) [0-9A-F]+:[0-9A-F]{4} ${state} \\S+ \\S+ \\S+ +\\d+ +\\d+ (\\d+)`,
    'gm',
  );
  for (const [, port = '', inode = ''] of text.matchAll(row))
    sockets.push({ protocol, port: Number.parseInt(port, 16), inode });
  return sockets;
}

/** The sockets that the processes have open. `isWhole` false: the files of a process cannot be read. */
async function socketsOf(
  pids: readonly number[],
): Promise<{ readonly inodes: ReadonlySet<string>; readonly isWhole: boolean }> {
  const inodes = new Set<string>();
  let isWhole = true;
  for (const pid of pids) {
    const own = socketsOfProcess(pid);
    if (own === undefined) isWhole = false;
    else for (const inode of own) inodes.add(inode);
    await nextTurn();
  }
  return { inodes, isWhole };
}

/** Undefined: the files of the process cannot be read. */
function socketsOfProcess(pid: number): string[] | undefined {
  const directory = `/proc/${pid}/fd`;
  return attempt(() => readdirSync(directory).flatMap((fd) => socketAt(`${directory}/${fd}`)));
}

function socketAt(path: string): string[] {
  // The file may be closed meanwhile.
  return attempt(() => {
    const [, inode] = /^socket:\[(\d+)\]$/.exec(readlinkSync(path)) ?? [];
    return inode === undefined ? [] : [inode];
  }, []);
}

function nameOf(pid: number): string {
  return attempt(() => readFileSync(`/proc/${pid}/comm`, 'utf8').trim(), 'a program');
}
