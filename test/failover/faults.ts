/** What is done to the fleet in a trial, and how it is undone. */
import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../support/until.js';
import { type Fleet, STORES, WRAPPERS } from './fleet.js';

const STALL_MS = 30_000;
/** Longer than a lease, and than an election of etcd's. */
const CUT_MS = 10_000;
const DISK_MS = 15_000;
const SOON_MS = 2000;

export interface Fault {
  /** For the table. */
  readonly what: string;
  /** How long it lasts at least. */
  readonly lastsMs: number;
  readonly hasSmallDisks?: boolean;
  /** Resolves, as soon as it is done, with how to undo it. */
  strike(fleet: Fleet, leader: string): Promise<() => Promise<void>>;
}

export const FAULTS: ReadonlyMap<string, Fault> = new Map<string, Fault>([
  ['kill', { what: '`kill -9` of the leader', lastsMs: SOON_MS, strike: (...it) => end(...it, 'SIGKILL') }],
  ['term', { what: 'SIGTERM of the leader', lastsMs: SOON_MS, strike: (...it) => end(...it, 'SIGTERM') }],
  ['stall', { what: 'SIGSTOP of the leader for 30 s', lastsMs: STALL_MS, strike: stall }],
  [
    'leader-etcd',
    {
      what: 'the leader is cut from etcd',
      lastsMs: CUT_MS,
      strike: async (fleet, leader) => part(fleet, leader, STORES),
    },
  ],
  [
    'leader-wrappers',
    {
      what: 'the leader is cut from the wrappers',
      lastsMs: CUT_MS,
      strike: async (fleet, leader) => part(fleet, leader, WRAPPERS),
    },
  ],
  [
    'etcd-members',
    {
      what: "etcd's leader is cut from its other members",
      lastsMs: CUT_MS,
      strike: async (fleet) => {
        const store = await fleet.leadingStore();
        return part(
          fleet,
          store,
          STORES.filter((other) => other !== store),
        );
      },
    },
  ],
  [
    'etcd-disk',
    { what: "the disk of etcd's leader is full", lastsMs: DISK_MS, hasSmallDisks: true, strike: fillDisk },
  ],
]);

async function end(fleet: Fleet, leader: string, signal: NodeJS.Signals): Promise<() => Promise<void>> {
  fleet.world.signal(leader, signal);
  return async () => {
    await until(() => {
      if (fleet.world.isRunning(leader)) throw new Error(`${leader} has not ended`);
    });
    fleet.world.spawn(leader);
  };
}

async function stall({ world }: Fleet, leader: string): Promise<() => Promise<void>> {
  world.signal(leader, 'SIGSTOP');
  return async () => world.signal(leader, 'SIGCONT');
}

function part({ world: { hosts } }: Fleet, host: string, others: readonly string[]): () => Promise<void> {
  for (const other of others) hosts.part(host, other);
  return async () => {
    for (const other of others) hosts.unite(host, other);
  };
}

/** The member ends when its next page finds no room. */
async function fillDisk(fleet: Fleet): Promise<() => Promise<void>> {
  const store = await fleet.leadingStore();
  const disk = fleet.disks.get(store);
  disk?.fill(0);
  return async () => {
    for (let waits = 0; fleet.member(store).isRunning && waits < 300; waits++) await pause(100);
    if (fleet.member(store).isRunning)
      throw new Error(`${store} goes on with a full disk: nothing was tried`);
    disk?.free();
    await fleet.member(store).start();
  };
}
