/** The usage of a time: asks the nodes that have parts of it, adds their answers, and marks what was deployed. */
import { DroverError } from '../model/errors.js';
import { type EventKind, textOfEvent } from '../model/event.js';
import { publicMessage } from '../model/public-message.js';
import { MINUTE_MS, sumOfSeries, type UsageQuestion } from '../model/run/usage-series.js';
import type { Reads } from './reads.js';

/** How long a node may take; a day of a large node takes a second. */
const MOST_MS = 8000;
const DEPLOYS: ReadonlySet<EventKind> = new Set(['added', 'changed', 'rollout']);

export interface UsageWanted extends Pick<UsageQuestion, 'by' | 'instance' | 'configurations'> {
  /** From a minute to a day. */
  readonly rangeMs: number;
  /** Only the usage on this node. */
  readonly node?: string | undefined;
}

/** The usage of a time; without steps when nothing is known. Does not throw: it names silent nodes. */
export async function usageOver(reads: Reads, { rangeMs, node, ...wanted }: UsageWanted) {
  const { nodes, clock } = reads;
  // A chart has room for 360 points; with many series each has 24.
  const everyMs = Math.ceil(rangeMs / (wanted.by === 'all' ? 360 : 24) / MINUTE_MS) * MINUTE_MS;
  const points = Math.max(1, Math.ceil(rangeMs / everyMs));
  const question = { ...wanted, everyMs, points };
  const asked = node === undefined ? [...nodes.entries()].map(([nodeId]) => nodeId).sort() : [node];
  const missing: { nodeId: string; why: string }[] = [];
  const answers = await Promise.all(
    asked.map((nodeId) =>
      reads.usageOver(nodeId, question, AbortSignal.timeout(MOST_MS)).catch((error: unknown) => {
        const isOld = error instanceof DroverError && error.code === 'DRV_SERVICE_UNKNOWN';
        const why = isOld ? 'its version of Drover does not keep usage: update it' : publicMessage(error);
        missing.push({ nodeId, why });
        return [];
      }),
    ),
  );
  const series = sumOfSeries(answers.flat());
  const last = Math.floor(clock.now() / everyMs);
  const at = Array.from({ length: points }, (_, place) => (last - points + 1 + place) * everyMs);
  return {
    everyMs,
    at: series.length === 0 ? [] : at,
    series,
    marks: marksOf(reads, wanted.configurations, clock.now() - rangeMs),
    missing,
  };
}

/** The deploys: new contents and rollouts of these configurations (undefined: of all), the oldest first. */
function marksOf({ events }: Reads, names: readonly string[] | undefined, since: number) {
  return [...events.entries()]
    .map(([, { value }]) => value)
    .filter(({ kind, at }) => DEPLOYS.has(kind) && at >= since)
    .filter(({ configuration }) => names?.includes(configuration ?? '') ?? true)
    .map((event) => ({ at: event.at, text: textOfEvent(event) }))
    .sort((a, b) => a.at - b.at);
}
