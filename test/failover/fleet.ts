/**
 * What the trials are done on: three masters, three etcd members and three wrappers, each on a host of its own
 * (`support/cluster/hosts.ts`), as an operator would set them up. Needs root, iproute2, etcd and `npm run build`.
 */
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { z } from 'zod';
import { HostWorld } from '../support/cluster/host-world.js';
import { type EtcdCluster, type EtcdMember, startEtcd } from '../support/etcd/etcd-server.js';
import { SmallDisk } from '../support/templates/small-disk.js';
import { until } from '../support/until.js';

export const MASTERS = ['m1', 'm2', 'm3'];
export const WRAPPERS = ['w1', 'w2', 'w3'];
export const STORES = ['e1', 'e2', 'e3'];
export const PREFIX = '/drover/prod';

/** Counts its lines, so that a lost one shows. */
const COUNT = 'n=0; while sleep 0.5; do n=$((n+1)); echo "line $n"; done';
const SMALL = { runtime: 'process', ramMB: 16, cpu: 0, nodes: WRAPPERS };
/** Longer than any cut of a trial: no node is lost in one. */
const SETTINGS = { clusterName: 'prod', nodeTimeoutMs: 30_000 };
/** The defaults of etcd. */
const ETCD = ['--heartbeat-interval', '100', '--election-timeout', '1000'];
/** Room for two segments of etcd's log, which it allots at its start, and for a small database. */
const DISK = '160m';
const TOKEN = /drvjoin_[\w-]+/;
const pingSchema = z.object({ leader: z.string().nullish() });

/** One run of an instance: another process of it would be another one. */
interface Run {
  readonly id: string;
  readonly processPid: number | null | undefined;
  readonly restarts: number;
  readonly state: string;
}

export class Fleet {
  readonly world: HostWorld;
  /** By host of `STORES`. Empty: the members keep their data on the machine's own disk. */
  readonly disks: ReadonlyMap<string, SmallDisk>;
  #etcd: EtcdCluster | undefined;

  private constructor(world: HostWorld, disks: ReadonlyMap<string, SmallDisk>) {
    this.world = world;
    this.disks = disks;
  }

  /** Resolves when everything runs, and two counting instances are ONLINE on each wrapper. */
  static async start({ hasSmallDisks }: { readonly hasSmallDisks: boolean }): Promise<Fleet> {
    const disks = new Map(hasSmallDisks ? STORES.map((store) => [store, new SmallDisk(DISK)]) : []);
    const fleet = new Fleet(HostWorld.create([...MASTERS, ...WRAPPERS, ...STORES]), disks);
    try {
      await fleet.#start();
      return fleet;
    } catch (error) {
      console.error(fleet.world.output());
      await fleet.close();
      throw error;
    }
  }

  get endpoints(): readonly string[] {
    return this.#running.endpoints;
  }

  member(store: string): EtcdMember {
    const member = this.#running.members[STORES.indexOf(store)];
    if (member === undefined) throw new Error(`there is no member ${store}`);
    return member;
  }

  /** The member that leads etcd. */
  async leadingStore(): Promise<string> {
    return until(async () => {
      for (const store of STORES) {
        if (!this.member(store).isRunning) continue;
        const metrics = await fetch(`${this.member(store).endpoint}/metrics`);
        if (/^etcd_server_is_leader 1$/m.test(await metrics.text())) return store;
      }
      throw new Error('no member of etcd leads');
    });
  }

  /** The master that all which run say leads; never `former`. */
  async leader(former?: string): Promise<string> {
    return until(async () => {
      const said = await Promise.all(this.#runningMasters().map((master) => this.#leaderAt(master)));
      const [leader] = said;
      if (leader == null || leader === former || said.some((other) => other !== leader))
        throw new Error(`masters say that ${said.join(', ')} lead`);
      return leader;
    });
  }

  /** The counting instances, as `master` tells them, in order. */
  async runs(master: string): Promise<Run[]> {
    const found = await this.world.apiOf(master).instances('count');
    return found
      .map(({ id, processPid, restarts, state }) => ({ id, processPid, restarts, state }))
      .toSorted((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** Pids of the processes of `runs`, as the system has them. */
  async pids(runs: readonly Run[]): Promise<(number | undefined)[]> {
    const found = await Promise.all(WRAPPERS.map((wrapper) => this.world.running(wrapper)));
    const pids = new Map(found.flatMap((running) => [...running]));
    return runs.map(({ id }) => pids.get(id));
  }

  /** Ends everything, and takes hosts, disks and directories away. */
  async close(): Promise<void> {
    try {
      await this.world.close();
    } finally {
      await this.#etcd?.stop();
      for (const disk of this.disks.values()) disk.close();
    }
  }

  async #start(): Promise<void> {
    const { world, disks } = this;
    const places = STORES.map((store) => ({
      address: world.hosts.addressOf(store),
      prefix: world.hosts.on(store),
      directory: disks.has(store) ? join(disks.get(store)?.path ?? '', 'data') : undefined,
    }));
    this.#etcd = await startEtcd({ places, parameters: ETCD });
    await this.#startMasters();
    const [first = ''] = MASTERS;
    const token = TOKEN.exec(await world.command('cluster token create --uses any', first))?.[0];
    for (const wrapper of WRAPPERS) {
      const masterAddress = world.hosts.addressOf(first);
      await world.make(wrapper, { ...SETTINGS, isMasterNode: false, masterAddress, joinToken: token });
      world.spawn(wrapper);
    }
    const api = world.apiOf(first);
    const count = 2 * WRAPPERS.length;
    await api.putConfiguration('count', { ...SMALL, command: COUNT, minimumServiceCount: count });
    await api.putConfiguration('probe', { ...SMALL, command: 'exec sleep 1000', minimumServiceCount: 0 });
    await until(async () => {
      const online = (await this.runs(first)).filter(({ state }) => state === 'ONLINE');
      expect(online).toHaveLength(count);
    });
  }

  /** The key of the cluster and of the administrator go from the first to the others, as `drover join` brings them. */
  async #startMasters(): Promise<void> {
    const { world } = this;
    const store = { kind: 'etcd', endpoints: this.endpoints, prefix: PREFIX };
    const [first = ''] = MASTERS;
    for (const master of MASTERS) {
      await world.make(master, { ...SETTINGS, isMasterNode: true, store });
      if (master !== first) {
        const key = join(world.paths(master).cluster, 'cluster.key');
        mkdirSync(world.paths(master).cluster, { recursive: true, mode: 0o700 });
        copyFileSync(world.paths(first).adminKey, world.paths(master).adminKey);
        copyFileSync(join(world.paths(first).cluster, 'cluster.key'), key);
      }
      world.spawn(master);
      await until(() => world.apiOf(master).instances());
    }
  }

  get #running(): EtcdCluster {
    if (this.#etcd === undefined) throw new Error('etcd was not started');
    return this.#etcd;
  }

  #runningMasters(): string[] {
    return MASTERS.filter((master) => this.world.isRunning(master));
  }

  async #leaderAt(master: string): Promise<string | null | undefined> {
    try {
      return pingSchema.parse(JSON.parse((await this.world.apiOf(master).send('GET', '/ping')).text)).leader;
    } catch {
      return undefined;
    }
  }
}
