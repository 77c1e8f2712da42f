/**
 * Several masters in one process, each with an API and a cluster port over real sockets, one authority, and an election
 * that the test decides. Each has a store of its own, so that a test sees which master has answered.
 */
import { pino } from 'pino';
import type { ApiServerOptions } from '../../../src/api/server.js';
import { ClusterServer } from '../../../src/channel/master/cluster-server.js';
import { doorOf } from '../../../src/channel/master/leader-tunnel.js';
import { MasterDesk } from '../../../src/channel/masters/master-desk.js';
import { Admission } from '../../../src/channel/trust/admission.js';
import type { ApiCertificate } from '../../../src/channel/trust/api-certificate.js';
import type { Authority } from '../../../src/channel/trust/authority.js';
import { JoinTokens } from '../../../src/channel/trust/join-tokens.js';
import { ClusterMembers } from '../../../src/channel/trust/members.js';
import type { MasterPeer } from '../../../src/leadership/leadership.js';
import { SystemClock } from '../../../src/loop/system-clock.js';
import { ApiWorld } from '../api/api-world.js';
import { MemoryFile, testAuthority } from '../cluster/cluster-files.js';
import { TcpProxy } from '../cluster/tcp-proxy.js';
import { MemoryStore } from '../store/memory-store.js';
import { FakeElection } from './fake-leadership.js';

const SILENCE_MS = 6000;

interface TestMasterOptions {
  readonly certificate?: ApiCertificate;
  readonly limits?: ApiServerOptions['limits'];
}

export class TestMaster {
  readonly clock = new SystemClock();
  readonly desk = new MasterDesk();
  readonly api: ApiWorld;
  readonly door: ClusterServer;
  /** A proxy in front of its cluster port, by which a test can cut it off from the others. */
  #proxy: TcpProxy | undefined;
  #isOver = false;

  constructor(
    readonly nodeId: string,
    readonly authority: Authority,
    election: FakeElection,
    options: TestMasterOptions = {},
  ) {
    const { clock } = this;
    const logger = pino({ level: 'silent' });
    const leadership = election.as(nodeId);
    this.api = new ApiWorld({
      ...options,
      configuration: { nodeId },
      forwarding: {
        leadership,
        dial: async (leader, signal) =>
          // By virtual time: no limit passes only because the machine is busy.
          (await doorOf({ authority, silenceMs: SILENCE_MS, clock: this.api.clock }, leader)).tunnel(signal),
      },
    });
    const store = new MemoryStore();
    const tokens = new JoinTokens({ store, authority, clock });
    const audit = { record: () => undefined };
    const shares = { store, authority, tokens, clock, audit, logger };
    this.door = new ClusterServer({
      host: '127.0.0.1',
      port: 0,
      api: { address: '127.0.0.1', port: 7000, hasTls: false },
      authority,
      members: new ClusterMembers(shares),
      admission: new Admission({ ...shares, clusterName: 'test', masterNodeId: nodeId }),
      audit,
      accept: (transport) => transport.close('no hub in this world'),
      leadership,
      takeTunnel: (connection) => this.api.server.takeTunnel(connection),
      takeDesk: (connection, from) => this.desk.take(connection, from),
      silenceMs: SILENCE_MS,
      clock,
      logger,
    });
  }

  get peer(): MasterPeer {
    return { nodeId: this.nodeId, clusterAddress: `127.0.0.1:${this.proxy.port}` };
  }

  get proxy(): TcpProxy {
    if (this.#proxy === undefined) throw new Error('the master does not run');
    return this.#proxy;
  }

  async start(): Promise<void> {
    await this.api.start();
    await this.api.server.start();
    await this.door.start();
    this.door.open();
    this.#proxy = await TcpProxy.start({ port: this.door.port ?? 0 });
  }

  /** Stops the master. Idempotent. */
  async stop(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    await this.#proxy?.stop();
    this.desk.stop();
    await this.api.stop();
    await this.door.stop();
  }
}

/** Builds masters of one cluster and ends them. */
export class MastersWorld {
  readonly election = new FakeElection();
  readonly #authorityFile = new MemoryFile('data/cluster/authority.pem');
  readonly #masters: TestMaster[] = [];

  async add(nodeId: string, options?: TestMasterOptions): Promise<TestMaster> {
    const authority = testAuthority(new SystemClock(), { authorityFile: this.#authorityFile, nodeId });
    await authority.open();
    await authority.ensure();
    const master = new TestMaster(nodeId, authority, this.election, options);
    this.#masters.push(master);
    await master.start();
    return master;
  }

  /** Moves the clocks of all APIs. */
  async advance(ms: number): Promise<void> {
    await Promise.all(this.#masters.map(({ api }) => api.clock.advance(ms)));
  }

  async stop(): Promise<void> {
    for (const master of this.#masters) await master.stop();
  }
}
