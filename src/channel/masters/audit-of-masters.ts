/** Merges the audit trails of all masters, by time. Each master keeps its own file. */
import { z } from 'zod';
import type { Leadership } from '../../leadership/leadership.js';
import { type AuditEntry, type AuditTrail, auditEntrySchema } from '../../model/audit.js';
import { publicMessage } from '../../model/public-message.js';
import type { RecordDeskOptions } from './record-desk.js';

const AUDIT = 'audit';
const MAX_LIMIT = 1000;
const questionSchema = z.object({ limit: z.int().min(1).max(MAX_LIMIT) });
const entriesSchema = z.array(auditEntrySchema).max(MAX_LIMIT);

interface AuditOfMastersOptions extends Pick<RecordDeskOptions, 'nodeId' | 'calls' | 'desk'> {
  readonly audit: Pick<AuditTrail, 'last'>;
  readonly leadership: Pick<Leadership, 'masters'>;
  /** The node ids of all known masters, up or not. */
  readonly known: () => Iterable<string>;
}

/**
 * The last `limit` entries of all masters, oldest first. Does not throw: the answer names the masters whose entries are
 * missing.
 */
export type AuditOfMasters = (
  limit: number,
  signal: AbortSignal,
) => Promise<{
  readonly entries: readonly AuditEntry[];
  /** The masters whose entries are missing, and why. */
  readonly missing: readonly { readonly nodeId: string; readonly why: string }[];
}>;

/** The trails of all masters. From now on this master's desk answers with its own. */
export function auditOfMasters(options: AuditOfMastersOptions): AuditOfMasters {
  const { nodeId, audit, leadership, calls, known, desk } = options;
  desk.on(AUDIT, async (question) => audit.last(questionSchema.parse(question).limit));
  return async (limit, signal) => {
    const others = leadership.masters().filter((peer) => peer.nodeId !== nodeId);
    const up = new Set([nodeId, ...others.map((peer) => peer.nodeId)]);
    const missing = [...known()]
      .filter((id) => !up.has(id))
      .map((id) => ({ nodeId: id, why: 'it is not up' }));
    const answers = await Promise.all(
      others.map(async (peer): Promise<readonly AuditEntry[]> => {
        try {
          const answer = await calls.ask(peer, { name: AUDIT, content: { limit } }, signal);
          return entriesSchema.parse(answer).map((entry) => ({ ...entry, master: peer.nodeId }));
        } catch (error) {
          missing.push({ nodeId: peer.nodeId, why: publicMessage(error) });
          return [];
        }
      }),
    );
    const own = audit.last(limit).map((entry) => ({ ...entry, master: nodeId }));
    const entries = [...own, ...answers.flat()].toSorted((a, b) => a.at - b.at).slice(-limit);
    return { entries, missing };
  };
}
