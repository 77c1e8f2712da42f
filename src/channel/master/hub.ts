/**
 * The master's end of the channel: one session per connected node, with its feed, its reports and its calls. The
 * heartbeat controller decides whether a node is lost.
 */

import type { MasterPeer } from '../../leadership/leadership.js';
import { messageOf, nodeDisconnected } from '../../model/errors.js';
import type { NodeRecord } from '../../model/node.js';
import type { RecordSet } from '../../store/modify.js';
import type { Ambient } from '../../telemetry/ambient.js';
import { RepeatedLog } from '../../telemetry/repeated-log.js';
import { CallPeer, type Services } from '../protocol/calls.js';
import {
  BEAT_EVERY_MS,
  BOUNDS,
  type Frame,
  type MessageOf,
  PROTOCOL_VERSION,
  TAKE_MASTERS,
} from '../protocol/messages.js';
import type { Transport } from '../protocol/transport.js';
import type { Peer } from '../trust/members.js';
import { type BeatBook, SILENT_MS } from './beat-book.js';
import { FeedPace } from './feed-pace.js';
import { type FeedSources, isSameWish, NodeFeed } from './node-feed.js';
import { type OfferingSession, takeHello, takeOffer } from './node-intake.js';
import { NO_HELLO, type Objection, objectionTo } from './objection.js';
import type { StatusIntake } from './status-intake.js';
import { type ReportingSession, StatusMessages } from './status-messages.js';
import type { UsageBook } from './usage-book.js';

/** A connection must say hello within this time. */
const HELLO_MS = 10_000;
/** How many calls of one wrapper are answered at once. A wrapper fetches a few trees at a time. */
const MOST_SERVED = 64;

export interface HubOptions extends Ambient {
  readonly clusterName: string;
  readonly master: MessageOf<'welcome'>['master'];
  readonly nodes: RecordSet<NodeRecord>;
  readonly sources: FeedSources;
  readonly intake: StatusIntake;
  readonly beats: BeatBook;
  readonly usage: UsageBook;
  /** With several masters: the number of this master's term, and all masters that are up. */
  readonly elected?: { readonly epoch: number; masters(): readonly MasterPeer[] } | undefined;
  /** The calls that wrappers may make to the master, such as for template bundles. */
  readonly services: Services;
}

interface Session extends ReportingSession, OfferingSession {
  readonly feed: NodeFeed;
  readonly calls: CallPeer;
  /** True when the node was declared lost while this connection was open, so its instances are recorded as lost. */
  isStale: boolean;
}

export class Hub {
  readonly #options: HubOptions;
  readonly #sessions = new Map<string, Session>();
  /**
   * The open connections, each with the node that the cluster server authenticated. They include connections that have
   * not sent their hello yet.
   */
  readonly #transports = new Map<Transport, Peer | undefined>();
  /** The writes under way of the nodes' messages. */
  readonly #recording = new Set<Promise<void>>();
  /** Instances whose records were set aside at their last change. */
  readonly #unreadable = new Set<string>();
  readonly #pace: FeedPace;
  readonly #refusals: RepeatedLog;
  readonly #statuses: StatusMessages;
  #unsubscribe: (() => void)[] = [];

  constructor(options: HubOptions) {
    const { clock, logger } = options;
    this.#options = options;
    this.#pace = new FeedPace(clock);
    this.#refusals = new RepeatedLog(logger, clock);
    this.#statuses = new StatusMessages({
      ...options,
      pace: this.#pace,
      track: (writing) => this.#track(writing),
    });
  }

  start(): void {
    const { sources, nodes } = this.#options;
    for (const id of sources.instances.setAside.keys()) this.#unreadable.add(id);
    this.#unsubscribe = [
      sources.instances.onChange((id, after, before) => {
        if (isSameWish(before?.value, after?.value)) return;
        this.#instanceChanged(id, before?.value.placement?.nodeId, after?.value.placement?.nodeId);
        if (after === undefined || after.value.desired.goal === 'remove')
          this.#options.usage.drop(before?.value.placement?.nodeId ?? '', id);
      }),
      nodes.mirror.onChange((nodeId, after, before) => {
        const session = this.#sessions.get(nodeId);
        const isLost = after?.value.condition === 'lost' && before?.value.condition !== 'lost';
        if (session === undefined || !isLost) return;
        session.isStale = true;
        this.#options.usage.forget(nodeId);
      }),
    ];
  }

  /** Resolves when all messages of the nodes are recorded. */
  async stop(): Promise<void> {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#pace.stop();
    for (const transport of this.#transports.keys()) transport.close('the master stops');
    await Promise.all(this.#recording);
  }

  /** Feeds the instance `id` again, because a part of its assignment other than its record has changed. */
  touch(id: string): void {
    const nodeId = this.#options.sources.instances.get(id)?.value.placement?.nodeId;
    if (nodeId !== undefined) this.#sessions.get(nodeId)?.feed.touch(id);
  }

  /**
   * Feeds the instance's former and next node. When its record cannot be read, all nodes are fed, because any node may
   * hold the instance.
   */
  #instanceChanged(id: string, from: string | undefined, to: string | undefined): void {
    const isUnreadable = this.#options.sources.instances.setAside.has(id);
    if (isUnreadable || this.#unreadable.delete(id)) {
      if (isUnreadable) this.#unreadable.add(id);
      for (const { feed } of this.#sessions.values()) feed.touch(id);
      return;
    }
    if (from !== undefined) this.#sessions.get(from)?.feed.touch(id);
    if (to !== undefined && to !== from) this.#sessions.get(to)?.feed.touch(id);
  }

  /**
   * Takes a new connection, whose first message must be `hello`. `peer` is the node that the cluster server let in, and
   * `hello` must name the same node. `peer` is absent for the wrapper in this process.
   */
  accept(transport: Transport, peer?: Peer): void {
    this.#transports.set(transport, peer);
    let session: Session | undefined;
    const late = this.#options.clock.setTimer(HELLO_MS, () => transport.close('no hello came'));
    transport.onClose((reason) => {
      late.cancel();
      this.#transports.delete(transport);
      if (session !== undefined) this.#end(session, reason);
    });
    transport.onFrame((frame) => {
      late.cancel();
      if (session !== undefined) this.#handle(session, frame);
      else if (frame.message.type !== 'hello') this.#refuse(transport, NO_HELLO, peer);
      else session = this.#greet(transport, frame.message, peer);
    });
  }

  /** The ids of the connected nodes, in order. */
  connected(): string[] {
    return [...this.#sessions.keys()].sort();
  }

  isConnected(nodeId: string): boolean {
    return this.#sessions.has(nodeId);
  }

  /** Ends all connections of a node, also connections that have not sent their hello. */
  disconnect(nodeId: string, reason: string): void {
    this.#sessions.get(nodeId)?.transport.close(reason);
    for (const [transport, peer] of this.#transports) if (peer?.nodeId === nodeId) transport.close(reason);
  }

  /** The calls of a connected node. Throws DRV_NODE_DISCONNECTED. */
  callsOf(nodeId: string): CallPeer {
    const session = this.#sessions.get(nodeId);
    if (session === undefined)
      throw nodeDisconnected(`node ${nodeId} is not connected; try again when it is back`);
    return session.calls;
  }

  #greet(transport: Transport, hello: MessageOf<'hello'>, peer: Peer | undefined): Session | undefined {
    const { clusterName, master, beats, sources, logger, clock, services, elected } = this.#options;
    const objection = this.#objection(hello, peer);
    if (objection !== undefined) {
      this.#refuse(transport, objection, peer);
      return undefined;
    }
    const { nodeId } = hello;
    this.#sessions.get(nodeId)?.transport.close('the node connected again');
    const session: Session = {
      nodeId,
      transport,
      feed: new NodeFeed({ nodeId, transport, sources, held: hello.held, pace: this.#pace, logger }),
      calls: new CallPeer(transport, services, MOST_SERVED),
      isStale: false,
      reportSequence: 0,
      recorded: [],
      offer: undefined,
      isRecordingOffer: false,
    };
    this.#sessions.set(nodeId, session);
    const isCurrent = (): boolean => this.#sessions.get(nodeId) === session;
    const isMaster = nodeId === master.nodeId || peer?.isMaster === true;
    // Note the contact before the node's reports come: otherwise heartbeat, which still sees a silent node, would
    // mark the reported instances as lost.
    beats.connected(nodeId);
    transport.send({
      type: 'welcome',
      protocol: PROTOCOL_VERSION,
      master,
      ...(elected !== undefined && { epoch: elected.epoch, masters: told(elected.masters()) }),
    });
    this.#track(
      takeHello(this.#options.nodes, hello, { isMaster, isCurrent, now: () => clock.now() }).then(
        () => {
          if (!isCurrent()) return;
          session.feed.start();
          logger.info(
            { node: nodeId, version: hello.version, cluster: clusterName },
            `node ${nodeId} joined`,
          );
        },
        (error: unknown) => {
          const line = `node ${nodeId} connects, and could not be recorded: ${messageOf(error)}`;
          this.#refusals.say(line, line, { err: error, node: nodeId });
          if (isCurrent()) beats.sentAway(nodeId);
          transport.close('the master could not record the node');
        },
      ),
    );
    return session;
  }

  #objection(hello: MessageOf<'hello'>, peer: Peer | undefined): Objection | undefined {
    const isStale = this.#sessions.get(hello.nodeId)?.isStale;
    // A stale or silent connection does not count: it may be half open, without a node at its other end.
    const isConnected = isStale === false && this.#options.beats.contact(hello.nodeId).silentMs < SILENT_MS;
    const { clusterName, sources } = this.#options;
    const { instances, line } = sources;
    return objectionTo(hello, { peer, clusterName, revision: instances.revision, line, isConnected });
  }

  /**
   * Refuses a connection. The log folds refusals of one node and cause, whatever their text: a node could vary the
   * text at each try.
   */
  #refuse(
    transport: Transport,
    { cause, reason, isFinal, isBehind }: Objection,
    peer: Peer | undefined,
  ): void {
    this.#refusals.say(`${peer?.nodeId} ${cause}`, `refused a connection: ${reason}`);
    transport.send({ type: 'refused', reason, ...(isFinal && { isFinal }), ...(isBehind && { isBehind }) });
    transport.close(reason);
  }

  #handle(session: Session, frame: Frame): void {
    const { beats, sources } = this.#options;
    const { message } = frame;
    if (session.calls.handle(frame)) return;
    switch (message.type) {
      case 'beat':
        this.#takeBeat(session);
        return;
      case 'status':
        this.#statuses.take(session, message);
        return;
      case 'offer':
        session.offer = message.runtimes;
        this.#track(takeOffer(this.#options.nodes, session, this.#options.logger));
        return;
      case 'usage':
        this.#options.usage.take(session.nodeId, message.samples, (id) => {
          const record = sources.instances.get(id)?.value;
          const isThere = record?.placement?.nodeId === session.nodeId && record.desired.goal !== 'remove';
          return isThere ? record.configurationName : undefined;
        });
        return;
      case 'bye':
        beats.bye(session.nodeId);
        return;
      default:
        session.transport.close(`unexpected message ${message.type}`);
    }
  }

  /** Takes a beat. A node that counted as lost is disconnected, so that a new connection sends everything again. */
  #takeBeat({ nodeId, transport, isStale }: Session): void {
    const { beats } = this.#options;
    beats.beat(nodeId);
    if (isStale && beats.contact(nodeId).silentMs < BEAT_EVERY_MS)
      transport.close('the node was silent for too long: it starts over');
  }

  /**
   * Tells all connected nodes which masters are up. A node that misses the message gets the list at its next
   * connection.
   */
  tellMasters(): void {
    const { elected } = this.#options;
    if (elected === undefined) return;
    const masters = told(elected.masters());
    for (const { calls } of this.#sessions.values())
      void calls.call(TAKE_MASTERS, masters).catch(() => undefined);
  }

  /** Counts a write as under way until it has ended. */
  #track(writing: Promise<void>): void {
    const tracked = writing.finally(() => this.#recording.delete(tracked));
    this.#recording.add(tracked);
  }

  #end(session: Session, reason: string): void {
    session.feed.close();
    session.calls.close(reason);
    if (this.#sessions.get(session.nodeId) !== session) return;
    this.#sessions.delete(session.nodeId);
    this.#options.usage.forget(session.nodeId);
    this.#options.beats.disconnected(session.nodeId);
    this.#options.logger.info(
      { node: session.nodeId, reason },
      `node ${session.nodeId} disconnected: ${reason}`,
    );
  }
}

/** The masters that are up, in the form that nodes get. */
function told(masters: readonly MasterPeer[]): MasterPeer[] {
  return masters.slice(0, BOUNDS.masters).map(({ nodeId, clusterAddress }) => ({ nodeId, clusterAddress }));
}
