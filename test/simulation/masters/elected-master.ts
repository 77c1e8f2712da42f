/**
 * The role of one of several masters: the real leadership, store, mirror and term over the simulated etcd. It starts and
 * stops them in the order of `start-without-state.ts`, `open-master-store.ts` and `start-master.ts`.
 */
import { pointElsewhere } from '../../../src/channel/master/elsewhere.js';
import type { Transport } from '../../../src/channel/protocol/transport.js';
import { KnownMasters } from '../../../src/channel/wrapper/known-masters.js';
import { type RecordEdit, transactionOf } from '../../../src/configuration-files/record-edits.js';
import { connectToLeader } from '../../../src/daemon/connect-to-leader.js';
import { MasterWork } from '../../../src/daemon/master-work.js';
import { ContentOrigins } from '../../../src/git/content-origins.js';
import { ElectedLeadership } from '../../../src/leadership/elected-leadership.js';
import { LeaderSearch } from '../../../src/leadership/leader-search.js';
import type { Leader, MasterPeer } from '../../../src/leadership/leadership.js';
import { RunningParts } from '../../../src/loop/lifecycle.js';
import { Master } from '../../../src/master.js';
import { hashConfiguration } from '../../../src/model/configuration.js';
import type { DroverError } from '../../../src/model/errors.js';
import { hostPort } from '../../../src/model/plain/host-port.js';
import type { Etcd } from '../../../src/store/etcd/etcd.js';
import type { EtcdStore } from '../../../src/store/etcd/etcd-store.js';
import { storeKeys } from '../../../src/store/etcd/leader-key.js';
import { Masters } from '../../../src/store/etcd/masters.js';
import { openElected } from '../../../src/store/etcd/open.js';
import type { MasterPlace, MasterRole } from '../machine/master-role.js';
import { masterOptions } from '../machine/master-role.js';
import type { Listener } from '../network/network.js';
import { keptMastersFile } from './master-finder.js';

export const PREFIX_ON_ETCD = '/drover/simulated';
const PORT = 6000;
/** A record of each certificate that was revoked, by node. */
export const REVOKED = 'simulated-revoked/';

interface ElectedMasterPlace extends MasterPlace {
  readonly etcd: Etcd;
  /** The state is open: the node connects from now on. */
  onOpen(): void;
  /** The cluster port is open. */
  onListening(accept: Listener['accept']): void;
  /** Connects the wrapper of this node to the master in the same process, or to another one. */
  connectHere(accept: Listener['accept']): Promise<Transport>;
  connectThere(leader: Leader): Promise<Transport>;
  isMaster(nodeId: string): boolean;
  /** Asks another master who leads. */
  ask(peer: MasterPeer): Promise<Leader | null>;
  /** The state cannot be followed any more, and the process ends. */
  onLost(error: DroverError): void;
  /** This master leads, and answers requests from now on. */
  onServing(store: EtcdStore): void;
}

interface Opened {
  readonly store: EtcdStore;
  readonly candidate: ElectedLeadership;
  readonly master: Master;
  readonly work: MasterWork;
  readonly search: LeaderSearch;
}

export class ElectedMaster implements MasterRole {
  readonly #place: ElectedMasterPlace;
  readonly #ending = new AbortController();
  readonly #running = new RunningParts();
  readonly #accept: Listener['accept'] = (transport, nodeId) => this.#take(transport, nodeId);
  #opened: Opened | undefined;
  #meet: (opened: Opened) => void = () => undefined;
  /** The wrapper connects from then on. */
  readonly #met = new Promise<Opened>((resolve) => {
    this.#meet = resolve;
  });
  /** The last term in which this master answered requests. */
  #served: number | undefined;

  constructor(place: ElectedMasterPlace) {
    this.#place = place;
  }

  get master(): Master | undefined {
    return this.#opened?.master;
  }

  get isReady(): boolean {
    return this.#opened?.work.isReady === true;
  }

  /** Undefined: its state is not open yet. */
  get leadership(): Pick<ElectedLeadership, 'leader' | 'term'> | undefined {
    return this.#opened?.candidate;
  }

  /** What this master has in memory. */
  get store(): EtcdStore | undefined {
    return this.#opened?.store;
  }

  /** What runs on the node is looked after also while the state is away. */
  async begin(): Promise<void> {}

  async serve(untilFed: () => Promise<void>): Promise<void> {
    const opened = await this.#open();
    this.#opened = opened;
    this.#place.onOpen();
    const { candidate, master, work, search } = opened;
    await this.#running.start(master);
    this.#running.onStop(() => candidate.stop());
    await this.#running.start(search);
    candidate.onChange(() => {
      if (!work.isReady || candidate.term()?.epoch === this.#served) return;
      this.#served = candidate.term()?.epoch;
      this.#place.onServing(opened.store);
    });
    const serving = candidate.serve(work);
    this.#meet(opened);
    if (candidate.isLeader()) await untilFed();
    work.nodeIsUp();
    await serving;
    this.#openDoor();
    await work.startFiles();
  }

  /** For the wrapper of this node. */
  readonly connect = async (signal: AbortSignal): Promise<Transport> => {
    const { machine, connectHere, connectThere } = this.#place;
    const { candidate } = await this.#met;
    return connectToLeader({
      candidate,
      nodeId: machine.nodeId,
      here: () => connectHere(this.#accept),
      there: connectThere,
      signal,
    });
  };

  /** As a client does that applies all of its files. */
  async syncFiles(): Promise<void> {
    const { files, machine, life, logger } = this.#place;
    const { store, master } = this.#opened ?? {};
    if (store === undefined || master === undefined) return;
    const { configurations, histories, overrides, rollouts, timetables } = master.state;
    const edits: RecordEdit[] = [];
    const origins = new ContentOrigins('/simulated', { info: () => undefined });
    for (const [name, configuration] of files) {
      const hash = hashConfiguration(configuration);
      const held = configurations.get(name);
      if (held?.value.hash === hash) continue;
      const parsed = { configuration, content: configuration, hash };
      const source = origins.ofFile(`${name}.json`);
      edits.push({ do: 'put', name, source, parsed, expectedRevision: held?.revision ?? 0 });
    }
    for (const [name, { revision }] of configurations.entries())
      if (!files.has(name)) edits.push({ do: 'remove', name, expectedRevision: revision });
    if (edits.length === 0) return;
    const { clock } = life;
    const state = { store, clock, configurations, histories, overrides, rollouts, timetables, logger };
    await store.transact(await transactionOf(edits, machine.nodeId, state));
  }

  async interrupt(): Promise<void> {
    await this.#opened?.master.term?.controllers.stop();
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#running.stop();
  }

  async handOver(): Promise<void> {
    const { candidate } = this.#opened ?? {};
    if (candidate !== undefined && candidate.masters().length > 1) await candidate.stop();
  }

  async #open(): Promise<Opened> {
    const { etcd, machine, life, logger, onLost } = this.#place;
    const { nodeId, address } = machine;
    const { clock } = life;
    const own = { nodeId, clusterAddress: hostPort(address, PORT), root: nodeId };
    const { store, election, lease } = await openElected({
      etcd,
      prefix: PREFIX_ON_ETCD,
      own,
      clock,
      logger,
      signal: this.#ending.signal,
      onLost,
    });
    this.#running.onStop(() => store.close());
    const masters = new Masters({
      etcd,
      keys: storeKeys(PREFIX_ON_ETCD),
      nodeId,
      lease,
      clock,
      onChange: () => candidate.changed(),
    });
    const candidate = new ElectedLeadership({ election, masters, own, clock, logger });
    masters.start();
    this.#running.onStop(() => masters.stop());
    const master = this.#buildMaster(store, candidate);
    const { ask } = this.#place;
    const known = new KnownMasters({
      contact: { host: address, port: PORT },
      file: keptMastersFile({ machine, life, onKept: () => undefined }),
      logger,
    });
    const search = new LeaderSearch({ leadership: candidate, nodeId, known, ask, clock });
    const work = new MasterWork({
      master,
      startFiles: async () => undefined,
      ensureAdminKey: async () => undefined,
      openDoor: async () => this.#openDoor(),
      untilAnswered: async () => undefined,
    });
    return { store, candidate, master, work, search };
  }

  #buildMaster(store: EtcdStore, candidate: ElectedLeadership): Master {
    return new Master({
      ...masterOptions(this.#place),
      leadership: candidate,
      store,
      revokeNode: async (nodeId) => {
        await store.transact([{ do: 'put', key: REVOKED + nodeId, value: {} }]);
        return undefined;
      },
    });
  }

  #openDoor(): void {
    this.#place.onListening(this.#accept);
  }

  #take(transport: Transport, nodeId: string | undefined): void {
    const { candidate, master } = this.#opened ?? {};
    if (candidate?.isLeader() !== true) pointElsewhere(transport, candidate);
    else if (nodeId === undefined) master?.accept(transport);
    else master?.accept(transport, { nodeId, ...(this.#place.isMaster(nodeId) && { isMaster: true }) });
  }
}
