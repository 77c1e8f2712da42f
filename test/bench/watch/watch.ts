/**
 * The change stream: 500 subscribers of 10,000 instances, of which 50 never read, while 1,000 instances change a second.
 * Beside it the same changes without a subscriber.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { withInstances } from '../api/api.js';
import { Changes } from '../api/changes.js';
import { cpuTicks, residentMB, TICKS_PER_SECOND } from '../process-figures.js';
import type { Row } from '../table.js';
import { type BenchDaemon, ms } from '../world.js';
import type { WatchFindings } from './watch-clients.js';

const INSTANCES = 10_000;
const SUBSCRIBERS = 500;
const UNREAD = 50;
/** A key may have 64 sockets. */
const PER_KEY = 60;
const CHANGES = 1000;
const SECONDS = 10;

const keySchema = z.object({ token: z.string() });

export function benchWatch(): Promise<Row[]> {
  return withInstances(INSTANCES, async (daemon) => {
    const subscribers = { count: SUBSCRIBERS, unread: UNREAD, topics: ['instances'] };
    return rowsOf(await costOfWatching(daemon, subscribers));
  });
}

interface Subscribers {
  readonly count: number;
  readonly unread: number;
  readonly topics: readonly string[];
}

interface CostOfWatching {
  /** Cores of the daemon while instances change, without subscribers. */
  readonly alone: number;
  readonly watched: number;
  readonly found: WatchFindings;
  /** Resident memory of the daemon in MB, without subscribers and with them. */
  readonly memory: number;
  readonly peak: number;
}

/** Instances change without subscribers, then with them. */
export async function costOfWatching(daemon: BenchDaemon, subscribers: Subscribers): Promise<CostOfWatching> {
  const ids = (await daemon.instances()).map(({ id }) => id);
  const alone = await costOf(daemon, ids);
  const memory = await residentMB(daemon.pid);
  const clients = await subscribe(daemon, subscribers);
  try {
    const watched = await costOf(daemon, ids);
    const findings = messageOf(clients);
    clients.send(`end ${watched.last}`);
    const found = (await findings) as WatchFindings;
    return { alone: alone.cores, watched: watched.cores, found, memory, peak: await residentMB(daemon.pid) };
  } finally {
    clients.kill();
  }
}

/** The cores that the daemon takes while instances change, and the last value written. */
async function costOf(
  daemon: BenchDaemon,
  ids: readonly string[],
): Promise<{ readonly cores: number; readonly last: number }> {
  const before = await cpuTicks(daemon.pid);
  const changes = new Changes(daemon, ids, CHANGES);
  await wait(SECONDS * 1000);
  await changes.stop();
  return { cores: ((await cpuTicks(daemon.pid)) - before) / TICKS_PER_SECOND / SECONDS, last: changes.last };
}

/** Resolves when all subscribers have what is there. */
async function subscribe(daemon: BenchDaemon, { count, unread, topics }: Subscribers): Promise<ChildProcess> {
  const tokens: string[] = [];
  for (let index = 0; index < count / PER_KEY; index++) {
    const made = await daemon.request('POST', '/keys', { label: `watch-${index}`, scope: 'ALL' });
    tokens.push(keySchema.parse(made).token);
  }
  const script = fileURLToPath(new URL('./watch-clients.js', import.meta.url));
  const rest = [topics.join(','), String(count), String(unread), ...tokens];
  const child = fork(script, [`${daemon.url}/watch`, ...rest]);
  await messageOf(child);
  return child;
}

/** The next message. Rejects when the clients end without one. */
async function messageOf(clients: ChildProcess): Promise<unknown> {
  const ended = once(clients, 'exit').then(([code]) => {
    throw new Error(`the subscribers ended with ${code}: what they printed says why`);
  });
  return (await Promise.race([once(clients, 'message'), ended]))[0];
}

function rowsOf({ alone, watched, found, peak, memory }: CostOfWatching): Row[] {
  const figure = `${SUBSCRIBERS} subscribers of ${INSTANCES} instances (${UNREAD} never read), ${CHANGES} changes/s`;
  const { p50, p99, max, frames, megabytes } = found;
  return [
    {
      figure: `${figure}: CPU of the daemon`,
      value: `${watched.toFixed(2)} of a core, ${Math.round(megabytes)} MB in ${frames} frames`,
      baseline: `without a subscriber: ${alone.toFixed(2)} of a core`,
      target: '< 1 core',
      ok: watched < 1,
    },
    {
      figure: 'the same: from writing a value to its arrival, p50 / p99 / max',
      value: `${ms(p50)} / ${ms(p99)} / ${ms(max)}`,
      baseline: 'changes gather for 100.0 ms',
      target: 'max <= 1000 ms',
      ok: max <= 1000,
    },
    {
      figure: 'the same: resident memory of the daemon, and its growth with the subscribers',
      value: `${peak.toFixed(0)} MB (${peak > memory ? '+' : ''}${(peak - memory).toFixed(0)})`,
      baseline: `without a subscriber: ${memory.toFixed(0)} MB`,
      target: '+ < 200 MB',
      ok: peak - memory < 200,
    },
  ];
}
