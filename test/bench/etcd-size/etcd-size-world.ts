/** One etcd and masters over it, filled by a real master: measures what so many instances cost. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { SystemClock } from '../../../src/loop/system-clock.js';
import { readEtcd } from '../../../src/store/etcd/open.js';
import { EtcdClient } from '../../../src/store/etcd/wire/client.js';
import { fillStore } from '../../../src/store/lmdb/open.js';
import type { EtcdMember } from '../../support/etcd/etcd-server.js';
import { BenchChild } from '../cluster/cluster-child.js';
import { inDirectory, nothingSchema } from '../cluster/cluster-world.js';
import { withMembers } from '../etcd.js';
import { cpuTicks, peakMB, residentMB, TICKS_PER_SECOND } from '../process-figures.js';
import { median } from '../world.js';
import {
  type changesSchema,
  type Delay,
  delaySchema,
  PREFIX,
  type TakenOver,
  takenOverSchema,
  type Written,
  writtenSchema,
} from './etcd-size-questions.js';

const PER_NODE = 500;
const STARTS = 3;
const REST_MS = 10_000;
const ALONE = 2000;
export const PER_SECOND = 1000;
const PACED_SECONDS = 20;

interface Size {
  readonly instances: number;
  /** In each of them every instance changes once, and etcd forgets what was before the one before. */
  readonly hours: number;
}

/** What etcd takes. */
interface Taken {
  readonly databaseBytes: number;
  readonly inUseBytes: number;
  /** Of the data directory: database, log and snapshots. */
  readonly diskBytes: number;
  readonly residentMB: number;
  readonly peakMB: number;
}

/** Processor time of a change in milliseconds, without what the process takes at rest. */
interface ChangeCost {
  readonly etcd: number;
  readonly leader: number;
  readonly follower: number;
  readonly written: Written;
}

interface Start {
  readonly loadedMs: number;
  readonly residentMB: number;
}

export interface Findings {
  readonly size: Size;
  /** From the first record to the last ONLINE, and the transactions of all. */
  readonly filled: { readonly seconds: number; readonly transactions: number };
  readonly created: Taken;
  readonly compacted: Taken;
  readonly day: Taken;
  /** Of the LMDB file with the same records. */
  readonly fileBytes: number;
  /** In the database, until etcd forgets it. */
  readonly bytesOfChange: { readonly alone: number; readonly paced: number };
  readonly starts: { readonly etcd: Start; readonly lmdb: Start };
  readonly cost: { readonly unfollowed: ChangeCost; readonly followed: ChangeCost };
  readonly delay: Delay;
  /** Milliseconds that etcd waits for its disk, in the mean. */
  readonly fsyncMs: number;
  readonly takeOver: TakenOver & { readonly sinceKillMs: number };
}

/** Takes minutes. */
export function measureSize(size: Size): Promise<Findings> {
  return inDirectory((directory) =>
    withMembers({ count: 1, directory: join(directory, 'etcd') }, async ({ members }) => {
      const [member] = members;
      if (member === undefined) throw new Error('no member of etcd was started');
      const world = new SizeWorld(size, directory, member);
      try {
        return await world.measure();
      } finally {
        await world.stop();
      }
    }),
  );
}

class SizeWorld {
  readonly #size: Size;
  readonly #directory: string;
  readonly #member: EtcdMember;
  readonly #etcd: EtcdClient;
  readonly #children = new Set<BenchChild>();

  constructor(size: Size, directory: string, member: EtcdMember) {
    this.#size = size;
    this.#directory = directory;
    this.#member = member;
    this.#etcd = this.#client();
  }

  async measure(): Promise<Findings> {
    const filled = await this.#fill();
    const created = await this.#taken();
    await this.#compact(await this.#revision());
    const compacted = await this.#taken();
    const leader = this.#master('leader');
    await leader.ask(takenOverSchema, 'leading');
    const bytesOfChange = { alone: await this.#bytesAlone(leader), paced: 0 };
    const day = await this.#day(leader);
    const before = await this.#inUse();
    const unfollowed = await this.#costOfChange(leader);
    bytesOfChange.paced = ((await this.#inUse()) - before) / (PER_SECOND * PACED_SECONDS);
    const follower = this.#master('follower');
    await follower.ask(z.number(), 'loaded');
    await follower.ask(z.unknown(), 'delay');
    const followed = await this.#costOfChange(leader, follower);
    const followedBy = await follower.ask(delaySchema, 'delay');
    const lmdb = await this.#copyToFile();
    return {
      size: this.#size,
      filled,
      created,
      compacted,
      day,
      fileBytes: (await stat(join(lmdb, 'store.mdb'))).size,
      bytesOfChange,
      starts: { etcd: await this.#startsOf('another'), lmdb: await this.#startsOf('alone', lmdb) },
      cost: { unfollowed, followed },
      delay: followedBy,
      fsyncMs: await this.#fsyncMs(),
      takeOver: await this.#takeOver(leader, follower),
    };
  }

  async stop(): Promise<void> {
    for (const child of this.#children) await child.stop();
    this.#etcd.close();
  }

  async #fill(): Promise<Findings['filled']> {
    const { instances } = this.#size;
    const filler = this.#master('filler');
    await filler.ask(takenOverSchema, 'leading');
    await filler.ask(nothingSchema, 'join', String(Math.ceil(instances / PER_NODE)));
    const seconds = await filler.ask(z.number(), 'place', String(instances));
    await filler.ask(nothingSchema, 'settled');
    const transactions = await filler.ask(z.int(), 'revision');
    await this.#end(filler);
    console.log(`  ${instances} instances are ONLINE after ${seconds.toFixed(1)} s`);
    return { seconds, transactions };
  }

  /** One after the other, as on most clusters: each is a transaction of its own. */
  async #bytesAlone(leader: BenchChild): Promise<number> {
    const before = await this.#inUse();
    await change(leader, { count: ALONE, perSecond: 0, clients: 1 });
    return ((await this.#inUse()) - before) / ALONE;
  }

  /** What the database has come to when no hour makes it larger any more. */
  async #day(leader: BenchChild): Promise<Taken> {
    const { instances, hours } = this.#size;
    let forgotten = await this.#revision();
    for (let hour = 0; hour < hours; hour++) {
      await change(leader, { count: instances, perSecond: 0 });
      const now = await this.#revision();
      await this.#compact(forgotten);
      forgotten = now;
    }
    console.log(`  ${hours} hours of changes are over`);
    return this.#taken();
  }

  async #costOfChange(leader: BenchChild, follower?: BenchChild): Promise<ChangeCost> {
    const pids = [this.#member.pid, leader.pid, ...(follower === undefined ? [] : [follower.pid])];
    const startedAt = performance.now();
    const resting = await ticks(pids, () => delay(REST_MS));
    const restMs = performance.now() - startedAt;
    const count = PER_SECOND * PACED_SECONDS;
    let written: Written = { seconds: 0, p50: 0, p99: 0 };
    const busy = await ticks(pids, async () => {
      written = await change(leader, { count, perSecond: PER_SECOND });
    });
    const [etcd = 0, ofLeader = 0, ofFollower = 0] = busy.map((spent, index) => {
      const atRest = ((resting[index] ?? 0) * written.seconds * 1000) / restMs;
      return ((spent - atRest) * 1000) / TICKS_PER_SECOND / count;
    });
    return { etcd, leader: ofLeader, follower: ofFollower, written };
  }

  /** Of masters that find the state there and load it. */
  async #startsOf(name: string, directory?: string): Promise<Start> {
    const starts: Start[] = [];
    for (let index = 0; index < STARTS; index++) {
      const master = this.#master(name, directory);
      const loadedMs = await master.ask(z.number(), 'loaded');
      starts.push({ loadedMs, residentMB: await residentMB(master.pid) });
      await this.#end(master);
    }
    return {
      loadedMs: median(starts.map((start) => start.loadedMs)),
      residentMB: median(starts.map((start) => start.residentMB)),
    };
  }

  async #takeOver(leader: BenchChild, follower: BenchChild): Promise<Findings['takeOver']> {
    const killedAt = Date.now();
    await this.#end(leader);
    const taken = await follower.ask(takenOverSchema, 'leading');
    return { ...taken, sinceKillMs: taken.at - killedAt };
  }

  /** The directory of an LMDB store with all that etcd holds. */
  async #copyToFile(): Promise<string> {
    const clock = new SystemClock();
    const own = { nodeId: 'reader', clusterAddress: 'reader:6000', root: 'reader' };
    const { signal } = new AbortController();
    const state = await readEtcd({ etcd: this.#client(), prefix: PREFIX, own, clock, signal });
    const directory = join(this.#directory, 'file');
    await fillStore(directory, state);
    return directory;
  }

  async #revision(): Promise<number> {
    return (await this.#etcd.range({ key: PREFIX })).revision;
  }

  /** As the leader does every hour. By the gateway, which can wait until it is done on disk. */
  async #compact(revision: number): Promise<void> {
    const response = await fetch(`${this.#member.endpoint}/v3/kv/compaction`, {
      method: 'POST',
      body: JSON.stringify({ revision: String(revision), physical: true }),
    });
    if (!response.ok) throw new Error(`etcd answers ${response.status}: ${await response.text()}`);
  }

  async #inUse(): Promise<number> {
    return (await this.#etcd.status()).databaseBytesInUse;
  }

  async #taken(): Promise<Taken> {
    const { pid } = this.#member;
    const { databaseBytes, databaseBytesInUse } = await this.#etcd.status();
    return {
      databaseBytes,
      inUseBytes: databaseBytesInUse,
      diskBytes: await bytesUnder(join(this.#directory, 'etcd')),
      residentMB: await residentMB(pid),
      peakMB: await peakMB(pid),
    };
  }

  async #fsyncMs(): Promise<number> {
    const text = await (await fetch(`${this.#member.endpoint}/metrics`)).text();
    const value = (name: string): number =>
      Number(new RegExp(`^etcd_disk_wal_fsync_duration_seconds_${name} (\\S+)$`, 'm').exec(text)?.[1]);
    return (value('sum') * 1000) / value('count');
  }

  #client(): EtcdClient {
    return new EtcdClient({ endpoints: [this.#member.endpoint], clock: new SystemClock() });
  }

  #master(nodeId: string, directory?: string): BenchChild {
    const place = directory === undefined ? { endpoints: [this.#member.endpoint] } : { directory };
    const child = new BenchChild('../etcd-size/etcd-size-master.js', nodeId, JSON.stringify(place));
    this.#children.add(child);
    return child;
  }

  async #end(child: BenchChild): Promise<void> {
    this.#children.delete(child);
    await child.stop();
  }
}

function change(leader: BenchChild, changes: z.output<typeof changesSchema>): Promise<Written> {
  return leader.ask(writtenSchema, 'change', JSON.stringify(changes));
}

/** Clock ticks that each process had while `work` ran. */
async function ticks(pids: readonly number[], work: () => Promise<unknown>): Promise<number[]> {
  const before = await Promise.all(pids.map(cpuTicks));
  await work();
  const after = await Promise.all(pids.map(cpuTicks));
  return after.map((spent, index) => spent - (before[index] ?? 0));
}

async function bytesUnder(directory: string): Promise<number> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  let bytes = 0;
  // A file of the log has its room before it is full, and one that is not needed any more may go while this looks.
  for (const entry of entries)
    if (entry.isFile())
      bytes += await stat(join(entry.parentPath, entry.name)).then(
        ({ blocks }) => blocks * 512,
        () => 0,
      );
  return bytes;
}
