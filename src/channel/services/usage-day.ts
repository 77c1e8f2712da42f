/**
 * The usage of the last day, over the channel. The master asks a node for series. Each minute a node asks the master for
 * the players of its instances, which only the master knows.
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

const seriesSchema = z.array(z.unknown()).max(BOUNDS.instances);
/** How many series are checked in one turn. */
const AT_ONCE = 200;
const idsSchema = z.array(instanceIdSchema).max(BOUNDS.instances);
const playersSchema = z.array(z.tuple([instanceIdSchema, z.int().min(0)])).max(BOUNDS.instances);

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

/** The master's half. `playersOf` returns null for an instance whose players are not known. */
export function playerServices(playersOf: (id: string) => number | null): Services {
  return {
    [PLAYERS_OF]: async (parameters) =>
      idsSchema.parse(parameters).flatMap((id) => {
        const players = playersOf(id);
        return players === null ? [] : [[id, players]];
      }),
  };
}

/** Asks the master for the players of instances. Throws DRV_CHANNEL_CALL_FAILED, also when `signal` aborts. */
export async function askForPlayers(
  calls: CallPeer,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  return new Map(playersSchema.parse(await calls.call(PLAYERS_OF, ids, { signal })));
}
