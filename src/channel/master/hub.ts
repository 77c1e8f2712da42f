/**
 * The master's end of the channel: one session per connected node, with its feed, its reports and its calls. The hub
 * records what a node says of itself. Whether a node is lost is decided by the heartbeat controller.
 */

import type { Clock } from '../../loop/clock.js';
import { DroverError } from '../../model/errors.js';
import type { NodeRecord } from '../../model/node.js';
import { leftOfNode } from '../../store/left-of-record.js';
import { modify, type RecordSet } from '../../store/modify.js';
import { create, update } from '../../store/store.js';
import type { Logger } from '../../telemetry/logger.js';
import { RepeatedLog } from '../../telemetry/repeated-log.js';
import { CallPeer, type Service } from '../protocol/calls.js';
import {
  BEAT_EVERY_MS,
  type Frame,
  type MessageOf,
  PROTOCOL_VERSION,
  type Report,
} from '../protocol/messages.js';
import type { Transport } from '../protocol/transport.js';
import type { Peer } from '../trust/members.js';
import { type BeatBook, SILENT_MS } from './beat-book.js';
import { FeedPace } from './feed-pace.js';
import { type FeedSources, isSameWish, NodeFeed } from './node-feed.js';
import { NO_HELLO, type Objection, objectionTo } from './objection.js';
import type { StatusIntake } from './status-intake.js';
import { UsageBook } from './usage-book.js';

/** A connection must say hello within this time. */
const HELLO_MS = 10_000;
/** A wrapper fetches a few trees at a time. */
const MOST_SERVED = 64;
/** The most that a node may have reported and is not recorded yet. Twenty thousand usual reports take a fifth of it. */
const MOST_UNRECORDED_BYTES = 32 * 1024 * 1024;
/** What a report takes in memory beside its message. */
const REPORT_BYTES = 256;
/** Time between two tries to record reports when the store cannot write. */
const RECORD_RETRY_MS = 1000;

export interface HubOptions {
  readonly clusterName: string;
  readonly master: MessageOf<'welcome'>['master'];
  readonly nodes: RecordSet<NodeRecord>;
  readonly sources: FeedSources;
  readonly intake: StatusIntake;
  readonly beats: BeatBook;
  /** The calls that wrappers may make to the master, such as for template bundles. */
  readonly services: ReadonlyMap<string, Service>;
  readonly logger: Logger;
  readonly clock: Clock;
}

interface Session {
  readonly nodeId: string;
  readonly transport: Transport;
  readonly feed: NodeFeed;
  readonly calls: CallPeer;
  /** The node was declared lost while this connection stood, so its instances are recorded as lost. */
  isStale: boolean;
  /** The last message of reports that was taken. */
  reportSequence: number;
  /** The newest offer that is not recorded yet. */
  offer: NodeRecord['runtimes'] | undefined;
  isRecordingOffer: boolean;
}

export class Hub {
  /** The usage of instances, as connected nodes measured it. */
  readonly usage = new UsageBook();
  readonly #options: HubOptions;
  readonly #sessions = new Map<string, Session>();
  /** Open connections, each with the node that the cluster server let in, also before its hello. */
  readonly #transports = new Map<Transport, Peer | undefined>();
  /** By node, roughly the memory of the reports that are not recorded yet. It outlives the node's connection. */
  readonly #unrecordedBytes = new Map<string, number>();
  /** Writes of what nodes said that are under way. */
  readonly #recording = new Set<Promise<void>>();
  /** Instances whose records were set aside at their last change. */
  readonly #unreadable = new Set<string>();
  readonly #pace: FeedPace;
  readonly #refusals: RepeatedLog;
  #unsubscribe: (() => void)[] = [];

  constructor(options: HubOptions) {
    this.#options = options;
    this.#pace = new FeedPace(options.clock);
    this.#refusals = new RepeatedLog(options.logger, () => options.clock.monotonic());
  }

  start(): void {
    const { sources, nodes } = this.#options;
    for (const id of sources.instances.setAside.keys()) this.#unreadable.add(id);
    this.#unsubscribe = [
      sources.instances.onChange((id, after, before) => {
        if (isSameWish(before?.value, after?.value)) return;
        this.#instanceChanged(id, before?.value.placement?.nodeId, after?.value.placement?.nodeId);
        if (after === undefined || after.value.desired.goal === 'remove')
          this.usage.drop(before?.value.placement?.nodeId ?? '', id);
      }),
      nodes.mirror.onChange((nodeId, after, before) => {
        const session = this.#sessions.get(nodeId);
        const isLost = after?.value.condition === 'lost' && before?.value.condition !== 'lost';
        if (session === undefined || !isLost) return;
        session.isStale = true;
        this.usage.forget(nodeId);
      }),
    ];
  }

  /** Resolves when everything that nodes said is recorded. */
  async stop(): Promise<void> {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#pace.stop();
    for (const transport of this.#transports.keys()) transport.close('the master stops');
    await Promise.all(this.#recording);
  }

  /** Feeds `id` again: something that its assignment is made of has changed, other than its record. */
  touch(id: string): void {
    const nodeId = this.#options.sources.instances.get(id)?.value.placement?.nodeId;
    if (nodeId !== undefined) this.#sessions.get(nodeId)?.feed.touch(id);
  }

  /** Feeds the nodes that held or will hold the instance. Where a record cannot be read, any node may hold it. */
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
   * `hello` must name the same one. It is absent for the wrapper in this process.
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

  /** Ids of the connected nodes, in order. */
  connected(): string[] {
    return [...this.#sessions.keys()].sort();
  }

  isConnected(nodeId: string): boolean {
    return this.#sessions.has(nodeId);
  }

  /** Ends the connections of a node, also those that it has not said hello on. */
  disconnect(nodeId: string, reason: string): void {
    this.#sessions.get(nodeId)?.transport.close(reason);
    for (const [transport, peer] of this.#transports) if (peer?.nodeId === nodeId) transport.close(reason);
  }

  /** The calls of a connected node. Throws DRV_NODE_DISCONNECTED. */
  callsOf(nodeId: string): CallPeer {
    const session = this.#sessions.get(nodeId);
    if (session === undefined)
      throw new DroverError(
        'DRV_NODE_DISCONNECTED',
        `node ${nodeId} is not connected; try again when it is back`,
      );
    return session.calls;
  }

  #greet(transport: Transport, hello: MessageOf<'hello'>, peer: Peer | undefined): Session | undefined {
    const { clusterName, master, beats, sources, logger, services } = this.#options;
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
      calls: new CallPeer(transport, services, { mostServed: MOST_SERVED }),
      isStale: false,
      reportSequence: 0,
      offer: undefined,
      isRecordingOffer: false,
    };
    this.#sessions.set(nodeId, session);
    // Before its reports: they would be marked as lost once more.
    beats.connected(nodeId);
    transport.send({ type: 'welcome', protocol: PROTOCOL_VERSION, master });
    this.#track(
      this.#record(hello, session).then(
        () => {
          if (this.#sessions.get(nodeId) !== session) return;
          session.feed.start();
          logger.info(
            { node: nodeId, version: hello.version, cluster: clusterName },
            `node ${nodeId} joined`,
          );
        },
        (error: unknown) => {
          logger.error({ err: error, node: nodeId }, 'a joining node could not be recorded');
          transport.close('the master could not record the node');
        },
      ),
    );
    return session;
  }

  #objection(hello: MessageOf<'hello'>, peer: Peer | undefined): Objection | undefined {
    const isStale = this.#sessions.get(hello.nodeId)?.isStale;
    // A stale or silent connection may be half open, with no node at its other end.
    const isConnected = isStale === false && this.#options.beats.contact(hello.nodeId).silentMs < SILENT_MS;
    const { clusterName, sources } = this.#options;
    return objectionTo(hello, { peer, clusterName, revision: sources.instances.revision, isConnected });
  }

  /** Logs one line per node and cause, not per try: a node chooses the rest of the text. */
  #refuse(transport: Transport, { cause, reason, isFinal }: Objection, peer: Peer | undefined): void {
    this.#refusals.warn(`${peer?.nodeId} ${cause}`, `refused a connection: ${reason}`);
    transport.send({ type: 'refused', reason, ...(isFinal && { isFinal }) });
    transport.close(reason);
  }

  /**
   * Writes what the node says of itself. Condition and cordon stay: others write them. A record that is set aside is
   * written anew, with what can be read of its cordon and drain. A node whose connection has ended meanwhile gets no new
   * record: it may have been forgotten.
   */
  async #record(hello: MessageOf<'hello'>, session: Session): Promise<void> {
    const { nodes, clock } = this.#options;
    const said = {
      nodeId: hello.nodeId,
      address: hello.address,
      master: hello.nodeId === this.#options.master.nodeId,
      capacity: hello.capacity,
      runtimes: hello.runtimes,
      advisoryLimits: hello.advisoryLimits,
      version: hello.version,
    };
    const isKnown = await modify(nodes, hello.nodeId, (record) => ({ ...record, ...said }));
    if (isKnown !== undefined || this.#sessions.get(hello.nodeId) !== session) return;
    const aside = nodes.mirror.setAside.get(hello.nodeId);
    const record: NodeRecord = {
      ...said,
      ...leftOfNode(aside?.value),
      condition: 'connected',
      conditionSince: clock.now(),
    };
    const key = nodes.keyOf(hello.nodeId);
    const { store, mirror } = nodes;
    await mirror.until(
      await (aside === undefined ? create(store, key, record) : update(store, key, record, aside.revision)),
    );
  }

  /** Records the newest offer of a node, one write at a time, however fast it offers. */
  async #recordOffers(session: Session): Promise<void> {
    const { nodes, logger } = this.#options;
    session.isRecordingOffer = true;
    for (let { offer } = session; offer !== undefined; offer = session.offer) {
      const runtimes = offer;
      session.offer = undefined;
      await modify(nodes, session.nodeId, (record) => ({ ...record, runtimes })).catch((error: unknown) =>
        logger.error({ err: error, node: session.nodeId }, 'the offer of a node could not be recorded'),
      );
    }
    session.isRecordingOffer = false;
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
        this.#takeStatus(session, message);
        return;
      case 'offer':
        session.offer = message.runtimes;
        if (!session.isRecordingOffer) this.#track(this.#recordOffers(session));
        return;
      case 'usage':
        this.usage.take(session.nodeId, message.samples, (id) => {
          const record = sources.instances.get(id)?.value;
          const isThere = record?.placement?.nodeId === session.nodeId && record.desired.goal !== 'remove';
          return isThere ? record.configurationName : undefined;
        });
        return;
      case 'bye':
        beats.bye(session.nodeId);
        return;
      case 'fed':
        return;
      default:
        session.transport.close(`unexpected message ${message.type}`);
    }
  }

  /** Ends the connection of a node that counted as lost: a new one begins with everything said anew. */
  #takeBeat({ nodeId, transport, isStale }: Session): void {
    const { beats } = this.#options;
    beats.beat(nodeId);
    if (isStale && beats.contact(nodeId).silentMs < BEAT_EVERY_MS)
      transport.close('the node was silent for too long: it starts over');
  }

  /** Refuses reports out of their turn: an old one would be taken for the newest. */
  #takeStatus(session: Session, { sequence, reports }: MessageOf<'status'>): void {
    if (sequence <= session.reportSequence) return;
    if (sequence > session.reportSequence + 1) {
      session.transport.close('a gap in the reports');
      return;
    }
    session.reportSequence = sequence;
    this.#takeReports(session, sequence, reports);
  }

  /**
   * Acknowledges reports once they are recorded. While the store cannot write, tries again as long as the session
   * lasts.
   */
  #takeReports(session: Session, sequence: number, reports: readonly Report[]): void {
    const { intake, logger, clock } = this.#options;
    const { nodeId } = session;
    const bytes = reports.reduce((sum, { message }) => sum + REPORT_BYTES + (message?.length ?? 0), 0);
    const unrecorded = (this.#unrecordedBytes.get(nodeId) ?? 0) + bytes;
    if (unrecorded > MOST_UNRECORDED_BYTES) {
      session.transport.close('it reports more than can be recorded now');
      return;
    }
    this.#unrecordedBytes.set(nodeId, unrecorded);
    const forget = (): void => this.#forgetReports(nodeId, bytes);
    this.#track(
      intake.take(nodeId, reports).then(
        () => {
          forget();
          session.transport.send({ type: 'status-acknowledged', sequence });
        },
        (error: unknown) => {
          if (!session.transport.isOpen) return forget();
          logger.error({ err: error, node: nodeId }, 'reports could not be recorded; trying again');
          // They count until then: reports that fail at once would otherwise pile up.
          clock.setTimer(RECORD_RETRY_MS, () => {
            forget();
            if (session.transport.isOpen)
              this.#takeReports(session, sequence, intake.stillNews(nodeId, reports));
          });
        },
      ),
    );
  }

  #forgetReports(nodeId: string, bytes: number): void {
    const left = (this.#unrecordedBytes.get(nodeId) ?? 0) - bytes;
    if (left > 0) this.#unrecordedBytes.set(nodeId, left);
    else this.#unrecordedBytes.delete(nodeId);
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
    this.usage.forget(session.nodeId);
    this.#options.beats.disconnected(session.nodeId);
    this.#options.logger.info(
      { node: session.nodeId, reason },
      `node ${session.nodeId} disconnected: ${reason}`,
    );
  }
}
