/**
 * Writes the facts that nodes send about themselves into their records, at each hello and each offer. Condition and
 * cordon have other writers, by the table in controllers/README.md.
 */
import type { NodeRecord } from '../../model/node.js';
import { leftOfNode } from '../../state/left-of-record.js';
import { modify, type RecordSet } from '../../store/modify.js';
import { create, update } from '../../store/store.js';
import type { Logger } from '../../telemetry/logger.js';
import type { MessageOf } from '../protocol/messages.js';

/** The part of a node's session that its offers need. */
export interface OfferingSession {
  readonly nodeId: string;
  /** The newest offer that waits to be recorded. */
  offer: NodeRecord['runtimes'] | undefined;
  isRecordingOffer: boolean;
}

/**
 * Records a hello; condition and cordon stay. A record that is set aside is written anew, with its cordon and drain
 * if these are readable. No new record is written once the node's connection has ended or was replaced, because the
 * operator may have forgotten the node. `isMaster`: the node is a master too. Throws the errors of the store.
 */
export async function takeHello(
  nodes: RecordSet<NodeRecord>,
  hello: MessageOf<'hello'>,
  { isMaster, isCurrent, now }: { readonly isMaster: boolean; isCurrent(): boolean; now(): number },
): Promise<void> {
  const { nodeId, address, capacity, runtimes, advisoryLimits, knows, version } = hello;
  const said = { nodeId, address, master: isMaster, capacity, runtimes, advisoryLimits, knows, version };
  const isKnown = await modify(nodes, nodeId, (record) => ({ ...record, ...said }));
  if (isKnown !== undefined || !isCurrent()) return;
  const { store, mirror } = nodes;
  const aside = mirror.setAside.get(nodeId);
  const left = leftOfNode(aside?.value);
  const record: NodeRecord = { ...said, ...left, condition: 'connected', conditionSince: now() };
  const key = nodes.keyOf(nodeId);
  await mirror.until(
    await (aside === undefined ? create(store, key, record) : update(store, key, record, aside.revision)),
  );
}

/**
 * Records the newest offer of a connection, one write at a time, however fast the node sends offers. Logs a refusal
 * of the store; the next hello brings the offer again.
 */
export async function takeOffer(
  nodes: RecordSet<NodeRecord>,
  session: OfferingSession,
  logger: Pick<Logger, 'error'>,
): Promise<void> {
  const { nodeId } = session;
  if (session.isRecordingOffer) return;
  session.isRecordingOffer = true;
  while (session.offer !== undefined) {
    const runtimes = session.offer;
    session.offer = undefined;
    await modify(nodes, nodeId, (record) => ({ ...record, runtimes })).catch((error: unknown) =>
      logger.error({ err: error, node: nodeId }, 'the offer of a node could not be recorded'),
    );
  }
  session.isRecordingOffer = false;
}
