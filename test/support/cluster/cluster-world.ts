/**
 * A master and nodes in one process that meet over real TLS sockets on loopback. Authority, members, cluster port,
 * memberships and transports are real; the runtimes are fakes.
 */
import { pino } from 'pino';
import { ClusterServer } from '../../../src/channel/master/cluster-server.js';
import { Admission } from '../../../src/channel/trust/admission.js';
import { parseJoinToken } from '../../../src/channel/trust/join-token.js';
import { JoinTokens, type NewJoinToken } from '../../../src/channel/trust/join-tokens.js';
import type { MasterHandover } from '../../../src/channel/trust/master-handover.js';
import { ClusterMembers } from '../../../src/channel/trust/members.js';
import { renewalServices } from '../../../src/channel/trust/renewal.js';
import { KnownMasters } from '../../../src/channel/wrapper/known-masters.js';
import { Membership } from '../../../src/channel/wrapper/membership.js';
import type { Clock } from '../../../src/loop/clock.js';
import type { AuditEntry } from '../../../src/model/audit.js';
import { ControlPlane, type TestNode } from '../control-plane/control-plane.js';
import { MemoryStore } from '../store/memory-store.js';
import { MemoryFile, testAuthority } from './cluster-files.js';

export interface TestMemberOptions {
  readonly token?: string | undefined;
  /** The port that the node dials. Default: the cluster port itself. */
  readonly port?: number;
  readonly clusterName?: string;
  /** The files that the node kept from before. */
  readonly files?: MemberFiles;
}

export interface MemberFiles {
  readonly member: MemoryFile;
  readonly joining: MemoryFile;
}

export class ClusterWorld {
  readonly clock: Clock;
  readonly store = new MemoryStore();
  readonly files = {
    authority: new MemoryFile('data/cluster/authority.pem'),
    server: new MemoryFile('data/cluster/server.json'),
  };
  readonly authority;
  readonly tokens: JoinTokens;
  readonly members: ClusterMembers;
  readonly server: ClusterServer;
  readonly plane: ControlPlane;
  /** The lines of the logs of master and nodes. */
  readonly said: string[] = [];
  readonly audit: Omit<AuditEntry, 'at'>[] = [];
  readonly memberships = new Map<string, Membership>();
  readonly masters = new Map<string, KnownMasters>();
  /** The nodes that were told that their token is used. */
  readonly joined: string[] = [];
  /** The nodes that ended because the master refused them, with the reason. */
  readonly ended: string[] = [];
  readonly #logger = pino({ level: 'info' }, { write: (line) => this.said.push(JSON.parse(line).msg) });

  /** `handover`: what new masters get; absent: this is the only master. */
  constructor(clock: Clock, handover?: MasterHandover) {
    this.clock = clock;
    const logger = this.#logger;
    this.authority = testAuthority(clock, {
      authorityFile: this.files.authority,
      serverFile: this.files.server,
    });
    const { store, authority } = this;
    this.tokens = new JoinTokens({ store, authority, clock });
    const audit = { record: (entry: Omit<AuditEntry, 'at'>) => this.audit.push(entry) };
    const shares = { store, authority, tokens: this.tokens, clock, audit, logger };
    this.members = new ClusterMembers(shares);
    const admission = new Admission({
      ...shares,
      clusterName: 'test',
      masterNodeId: 'master',
      ...(handover !== undefined && { handover: async () => handover }),
    });
    this.plane = new ControlPlane({
      clock,
      masterStore: store,
      logger,
      connect: (nodeId, signal) => this.membership(nodeId).connect(signal),
      servicesOf: (nodeId) => renewalServices(this.membership(nodeId)),
      mastersOf: (nodeId) => this.masters.get(nodeId),
      endRefused: (nodeId, reason) => this.ended.push(`${nodeId}: ${reason}`),
      revokeNode: (nodeId, options) => this.members.revoke(nodeId, options),
    });
    this.server = new ClusterServer({
      host: '127.0.0.1',
      port: 0,
      api: { address: '127.0.0.1', port: 7000, hasTls: false },
      authority,
      admission,
      members: this.members,
      audit,
      accept: (transport, peer) => this.plane.master.accept(transport, peer),
      silenceMs: 6000,
      clock,
      logger,
    });
  }

  async start(): Promise<void> {
    await this.server.start();
    await this.plane.start();
    this.server.open();
  }

  async stop(): Promise<void> {
    await this.plane.stop();
    await this.server.stop();
  }

  get port(): number {
    return this.server.port ?? 0;
  }

  membership(nodeId: string): Membership {
    const membership = this.memberships.get(nodeId);
    if (membership === undefined) throw new Error(`no membership of ${nodeId}`);
    return membership;
  }

  /** Makes a token; resolves with its text. */
  async token(fields: Partial<NewJoinToken> = {}): Promise<string> {
    const { token } = await this.tokens.create({
      label: null,
      expiresInMs: 3_600_000,
      maxUses: null,
      ...fields,
    });
    return token;
  }

  /** The opened membership of a node that has not connected yet. */
  async member(
    nodeId: string,
    { token, port = this.port, clusterName = 'test', files = emptyFiles() }: TestMemberOptions,
  ): Promise<{ readonly membership: Membership; readonly files: MemberFiles }> {
    const masters = new KnownMasters({
      contact: { host: '127.0.0.1', port },
      file: new MemoryFile('data/cluster/masters.json'),
      logger: this.#logger,
    });
    this.masters.set(nodeId, masters);
    const membership = new Membership({
      nodeId,
      clusterName,
      masters,
      silenceMs: 6000,
      token: token === undefined ? undefined : parseJoinToken(token),
      memberFile: files.member,
      joiningFile: files.joining,
      onJoined: async () => {
        this.joined.push(nodeId);
      },
      clock: this.clock,
      logger: this.#logger,
    });
    this.memberships.set(nodeId, membership);
    await membership.open();
    return { membership, files };
  }

  /** Starts a node with a wrapper. */
  async node(nodeId: string, options: TestMemberOptions): Promise<{ node: TestNode; files: MemberFiles }> {
    const { files } = await this.member(nodeId, options);
    return { node: await this.plane.addNode(nodeId), files };
  }

  /** True while the master has this node's connection. */
  isConnected(nodeId: string): boolean {
    return this.plane.master.beats.contact(nodeId).isConnected;
  }
}

export function emptyFiles(): MemberFiles {
  return {
    member: new MemoryFile('data/cluster/member.json'),
    joining: new MemoryFile('data/cluster/joining.json'),
  };
}
