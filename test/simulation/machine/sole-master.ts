/** The role of the only master: its state is on the disk of its machine, and it always leads. */
import { ConfigurationFollower } from '../../../controllers/master/configurations/follower.js';
import type { Transport } from '../../../src/channel/protocol/transport.js';
import { transactionOf } from '../../../src/configuration-files/record-edits.js';
import { SoleLeadership } from '../../../src/leadership/sole-leadership.js';
import { Master } from '../../../src/master.js';
import { SimulatedConfigurationFiles } from '../operator/configuration-files.js';
import { type Disk, DiskStore } from './disk.js';
import { type MasterPlace, type MasterRole, masterOptions } from './master-role.js';

interface SoleMasterPlace extends MasterPlace {
  readonly disk: Disk;
  /** The cluster port is open. */
  onListening(accept: (transport: Transport, nodeId?: string) => void): void;
  /** Revokes the certificate of a node. */
  shutOut(nodeId: string): void;
}

export class SoleMaster implements MasterRole {
  readonly master: Master;
  readonly #place: SoleMasterPlace;
  readonly #files: SimulatedConfigurationFiles;
  readonly #follower: ConfigurationFollower;
  /** Names whose removal waits for the operator's word, which comes with each sync. */
  #waiting: ReadonlySet<string> = new Set();
  #isReady = false;

  constructor(place: SoleMasterPlace) {
    const { machine, life, disk, files } = place;
    this.#place = place;
    this.#files = new SimulatedConfigurationFiles(machine.nodeId, files, life);
    const options = masterOptions(place);
    const store = new DiskStore(disk, life);
    this.master = new Master({
      ...options,
      leadership: new SoleLeadership({
        nodeId: machine.nodeId,
        clusterAddress: `${machine.address}:6000`,
        since: 0,
      }),
      store,
      isInForce: async ({ sourceFile }) => this.#files.isAsRead(sourceFile),
      revokeNode: (nodeId) =>
        life.request('revoking a certificate', life.random.between(0.05, disk.latencyMs), () => {
          place.shutOut(nodeId);
          return undefined;
        }),
    });
    const { configurations, histories, overrides, rollouts, timetables } = this.master.state;
    const { logger } = options;
    const edited = {
      ...{ store, clock: life.clock, configurations, histories, overrides, rollouts },
      ...{ timetables, logger },
    };
    this.#follower = new ConfigurationFollower({
      ...options,
      source: this.#files,
      configurations,
      overrides,
      timetables,
      store,
      door: { write: async (edits) => store.transact(await transactionOf(edits, machine.nodeId, edited)) },
      bases: {
        open: async () => undefined,
        of: () => new Map(),
        waiting: () => this.#waiting,
        note: async (_standing, _notes, waiting = this.#waiting) => {
          this.#waiting = waiting;
        },
      },
    });
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  async begin(): Promise<void> {
    const { master } = this;
    await master.start();
    master.beginTerm({ epoch: 0 });
    this.#place.onListening((transport, nodeId) =>
      master.accept(transport, nodeId === undefined ? undefined : { nodeId }),
    );
    await this.#follower.start();
    await this.syncFiles();
  }

  async serve(untilFed: () => Promise<void>): Promise<void> {
    await untilFed();
    await this.master.led().controllers.start();
    this.#isReady = true;
  }

  async syncFiles(): Promise<void> {
    await this.#files.sync(this.#follower);
  }

  async handOver(): Promise<void> {}

  async interrupt(): Promise<void> {
    await this.master.term?.controllers.stop();
  }

  async stop(): Promise<void> {
    await this.#follower.stop();
    await this.master.stop();
  }
}
