/** Carries an action out on the instances that were chosen, and shows what became of each. */
import { setTimeout as pause } from 'node:timers/promises';
import type { InstanceInfo } from '../../model/instance.js';
import { countText } from '../../model/words.js';
import type { CommandFailure } from '../command.js';
import { type Columns, listOf } from '../list.js';
import { ClientError, EXIT, isTransient } from '../runs/client-error.js';
import {
  chooseInstances,
  consequenceText,
  type InstanceAction,
  type KnownInstances,
  wavesOf,
} from './choose.js';
import { type Selecting, singleId } from './selection.js';

/** The most actions under way at once. Each action waits for the master's disk. */
const AT_ONCE = 8;
/** The time between two looks whether a wave has stopped. */
const LOOK_MS = 250;
/** The most instances that a question shows. */
const MOST_SHOWN = 50;
const DONE = {
  start: 'started',
  stop: 'stopped',
  restart: 'restarted',
  update: 'updated',
  delete: 'deleted',
} as const;

/** The fields that every answer to an action on one instance has. */
export interface InstanceMessage {
  readonly message: string;
  readonly instanceId: string;
}

/** The question before a command acts on anything but a single named instance. */
export interface Question {
  /** The effect of the command, such as `3 instances are stopped`. */
  readonly what: string;
  /** The lines that name the instances. */
  readonly list: readonly string[];
}

/** Asks a person. Returns after a yes, or at once with `--yes`; throws otherwise. */
export type Asker = (question: Question) => Promise<void>;

/** The result for one instance. With neither `done` nor `refusal` the instance was not tried. */
interface Outcome<Done extends InstanceMessage> {
  readonly id: string;
  readonly done?: Done;
  readonly refusal?: ClientError;
}

interface Batch<Done extends InstanceMessage> {
  readonly action: InstanceAction;
  readonly outcomes: readonly Outcome<Done>[];
}

/** The answer for a single named instance, or a batch for any other selection. */
export type Acted<Done extends InstanceMessage> = Done | Batch<Done>;

interface Acting<Done extends InstanceMessage> {
  readonly action: InstanceAction;
  readonly input: Selecting & { readonly waitForPlayers?: boolean };
  readonly known: () => Promise<KnownInstances>;
  /** Acts on one instance. Throws a ClientError, also when the instance is not known. */
  readonly perform: (id: string) => Promise<Done>;
}

/**
 * Acts on a single named instance at once. For any other selection it asks first, acts on the instances that the
 * question named, and continues after a refusal. Throws the errors of `chooseInstances` and of the question.
 */
export async function actOnInstances<Done extends InstanceMessage>(
  { action, input, known, perform }: Acting<Done>,
  { signal, confirm }: { readonly signal: AbortSignal; readonly confirm: Asker },
): Promise<Acted<Done>> {
  const id = singleId(input.selection);
  if (id !== undefined) return perform(id);
  const all = await known();
  const chosen = chooseInstances(action, input.selection, all);
  await confirm({
    what: consequenceText(action, chosen, input.waitForPlayers === true),
    list: linesOf(chosen.instances),
  });
  const waves = action === 'stop' ? wavesOf(chosen.instances, all) : [chosen.instances];
  const outcomes: Outcome<Done>[] = [];
  for (const wave of waves) {
    const isOver = outcomes.some(({ done }) => done === undefined);
    const former = new Set(outcomes.map(({ id: one }) => one));
    // What is OFFLINE, such as on a lost node, may stay so for long.
    const isLeft = (one: InstanceInfo): boolean =>
      former.has(one.id) && (one.state === 'ONLINE' || one.state === 'CREATING');
    while (former.size > 0 && !isOver && !signal.aborted && (await known()).instances.some(isLeft))
      await pause(LOOK_MS, undefined, { signal }).catch(() => undefined);
    const ids = wave.map((instance) => instance.id);
    outcomes.push(...(await performAll(ids, perform, isOver ? AbortSignal.abort() : signal)));
  }
  return { action, outcomes };
}

async function performAll<Done extends InstanceMessage>(
  ids: readonly string[],
  perform: Acting<Done>['perform'],
  signal: AbortSignal,
): Promise<Outcome<Done>[]> {
  const outcomes = new Map<string, Outcome<Done>>();
  let isOver = false;
  const waiting = ids.values();
  const work = async (): Promise<void> => {
    for (const id of waiting) {
      if (isOver || signal.aborted) return;
      try {
        outcomes.set(id, { id, done: await perform(id) });
      } catch (refusal) {
        if (!(refusal instanceof ClientError)) throw refusal;
        outcomes.set(id, { id, refusal });
        // Stop here: the remaining instances would fail for the same reason.
        isOver ||= refusal.exitCode === EXIT.denied || isTransient(refusal);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return ids.map((id) => outcomes.get(id) ?? { id });
}

const COLUMNS: Columns<InstanceInfo> = {
  ID: ({ id }) => id,
  CONFIGURATION: ({ configurationName }) => configurationName,
  STATE: ({ state }) => state,
  NODE: ({ wrapperNodeId }) => wrapperNodeId,
  PLAYERS: ({ players }) => players,
};

function linesOf(instances: readonly InstanceInfo[]): string[] {
  const shown = instances.slice(0, MOST_SHOWN);
  const lines = listOf({ now: 0 }, COLUMNS, shown, '').split('\n');
  const more = instances.length - shown.length;
  return more === 0 ? lines : [...lines, `... and ${countText(more, 'more instance')}`];
}

/** The answer for one instance, or a line for each of many. */
export function actedText(acted: Acted<InstanceMessage>): string {
  if (!isBatch(acted)) return acted.message;
  return acted.outcomes
    .map((outcome) => outcome.done?.message ?? `instance ${outcome.id}: ${problemOf(outcome)}`)
    .join('\n');
}

/** A single answer is printed as it is; many answers are a list, each with its `error` or null. */
export function actedJson(acted: Acted<InstanceMessage>): unknown {
  if (!isBatch(acted)) return acted;
  return acted.outcomes.map((outcome) => ({
    ...(outcome.done ?? { instanceId: outcome.id }),
    error: problemOf(outcome) ?? null,
  }));
}

export function actedNames(acted: Acted<InstanceMessage>): readonly string[] {
  const done = isBatch(acted) ? acted.outcomes.flatMap((outcome) => outcome.done ?? []) : [acted];
  return done.map(({ instanceId }) => instanceId);
}

/** The refusals of an action; undefined: no refusal. The exit code is that of the first refusal. */
export function actedFailure(acted: Acted<InstanceMessage>): CommandFailure | undefined {
  if (!isBatch(acted)) return undefined;
  const { action, outcomes } = acted;
  const failed = outcomes.filter(({ done }) => done === undefined);
  if (failed.length === 0) return undefined;
  const were = failed.length === 1 ? 'was' : 'were';
  return {
    message: `${failed.length} of ${countText(outcomes.length, 'instance')} ${were} not ${DONE[action]}`,
    exitCode: failed.find(({ refusal }) => refusal !== undefined)?.refusal?.exitCode,
  };
}

function isBatch<Done extends InstanceMessage>(acted: Acted<Done>): acted is Batch<Done> {
  return 'outcomes' in acted;
}

function problemOf({ done, refusal }: Outcome<InstanceMessage>): string | undefined {
  return done === undefined ? (refusal?.message ?? 'not tried') : undefined;
}
