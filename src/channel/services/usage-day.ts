/**
 * The usage of the last day, over the channel. The master asks a node for series. A node asks the master for what the
 * programs of its instances report, which only the master knows.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { instanceIdSchema } from '../../model/names.js';
import {
  type UsageQuestion,
  type UsageSeries,
  usageQuestionSchema,
  usageSeriesSchema,
} from '../../model/run/usage-series.js';
import type { CallPeer, Services } from '../protocol/calls.js';
import { MOST_LONG_ANSWER_BYTES } from '../protocol/frame-codec.js';
import { BOUNDS } from '../protocol/messages.js';

const READ_USAGE = 'read-usage';
const PLAYERS_OF = 'players-of';
const SILENCE_OF = 'silence-of';

const seriesSchema = z.array(z.unknown()).max(BOUNDS.instances);
/** How many series are checked in one turn. */
const AT_ONCE = 200;
const idsSchema = z.array(instanceIdSchema).max(BOUNDS.instances);
const numbersSchema = z.array(z.tuple([instanceIdSchema, z.int().min(0)])).max(BOUNDS.instances);

/** The wrapper's half. */
export function usageServices(
  read: (question: UsageQuestion, signal: AbortSignal) => Promise<UsageSeries[]>,
): Services {
  return {
    [READ_USAGE]: async (parameters, { signal }) =>
      (await read(usageQuestionSchema.parse(parameters), signal)).slice(0, BOUNDS.instances),
  };
}

/** Asks a node. Throws the node's errors. */
export async function askForUsage(
  calls: CallPeer,
  question: UsageQuestion,
  signal: AbortSignal,
): Promise<UsageSeries[]> {
  const answer = await calls.call(READ_USAGE, question, { signal, mostBytes: MOST_LONG_ANSWER_BYTES });
  const series: UsageSeries[] = [];
  for (const one of seriesSchema.parse(answer)) {
    series.push(usageSeriesSchema.parse(one));
    // Series of thousands of instances take long to check: other work comes between.
    if (series.length % AT_ONCE === 0) await nextTurn();
  }
  return series;
}

/** The master's half: what programs report. Both functions return null for what is not known. */
export function programServices(asked: {
  readonly playersOf: (id: string) => number | null;
  readonly silenceOf: (id: string) => number | null;
}): Services {
  const answer =
    (numberOf: (id: string) => number | null) =>
    async (parameters: unknown): Promise<[string, number][]> =>
      idsSchema.parse(parameters).flatMap((id) => {
        const number = numberOf(id);
        return number === null ? [] : [[id, number]];
      });
  return { [PLAYERS_OF]: answer(asked.playersOf), [SILENCE_OF]: answer(asked.silenceOf) };
}

/**
 * Asks the master for the players of instances, or for the time since their last `PUT state`, ms. Throws
 * DRV_CHANNEL_CALL_FAILED, also when `signal` aborts.
 */
export async function askOfPrograms(
  calls: CallPeer,
  what: typeof PLAYERS_OF | typeof SILENCE_OF,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  return new Map(numbersSchema.parse(await calls.call(what, ids, { signal })));
}
