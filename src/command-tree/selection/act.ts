/**
 * Carries an action out on the instances that were chosen. Console and client share it: they differ in how they look and
 * in how they act on one instance.
 */
import type { InstanceInfo } from '../../model/instance.js';
import { countText } from '../../model/words.js';
import { tableOf } from '../command.js';
import { chooseInstances, consequenceText, type InstanceAction, type KnownInstances } from './choose.js';
import { type Selecting, singleId } from './selection.js';

/** As many at once: each waits for the disk of the master. */
const AT_ONCE = 8;
/** The most instances that a question shows. */
const MOST_SHOWN = 50;

/** What the answer to an action on one instance has at least. */
export interface InstanceMessage {
  readonly message: string;
  readonly instanceId: string;
}

/** Why an action was not carried out. */
export interface Refusal {
  readonly message: string;
  /** For the client. */
  readonly exitCode: number;
  /** Every further try would end so, too. */
  readonly isFinal: boolean;
}

export interface ActionHost<Done extends InstanceMessage> {
  known(): KnownInstances | Promise<KnownInstances>;
  /** Acts on one. Throws, also when it is not known. */
  perform(id: string): Promise<Done>;
  /** Undefined: a fault, which ends the command. */
  refusalOf(error: unknown): Refusal | undefined;
}

/** What a person is asked before more is done than one instance was named for. */
export interface Question {
  /** Such as `3 instances are stopped`. */
  readonly what: string;
  /** Lines that name them. */
  readonly list: readonly string[];
}

/** Returns when the answer was yes, or `--yes` was given; throws otherwise. */
export type Asker = (question: Question) => Promise<void>;

export interface Outcome<Done extends InstanceMessage> {
  readonly id: string;
  /** Null: it was not tried. */
  readonly result: { readonly done: Done } | { readonly refusal: Refusal } | null;
}

export interface Batch<Done extends InstanceMessage> {
  readonly action: InstanceAction;
  readonly outcomes: readonly Outcome<Done>[];
}

/** The answer for the one instance that was named; a batch for any other selection. */
export type Acted<Done extends InstanceMessage> = Done | Batch<Done>;

export interface ActionCall {
  readonly action: InstanceAction;
  readonly input: Selecting & { readonly waitForPlayers?: boolean };
  readonly signal: AbortSignal;
  readonly confirm: Asker;
}

/**
 * Acts on the one instance that was named. For any other selection it asks first, then acts on those that the question
 * named, and goes on after one that is refused. Throws what `chooseInstances` and the question throw.
 */
export async function actOnInstances<Done extends InstanceMessage>(
  host: ActionHost<Done>,
  { action, input, signal, confirm }: ActionCall,
): Promise<Acted<Done>> {
  const id = singleId(input.selection);
  if (id !== undefined) return host.perform(id);
  const chosen = chooseInstances(action, input.selection, await host.known());
  await confirm({
    what: consequenceText(action, chosen, input.waitForPlayers === true),
    list: await listOf(chosen.instances),
  });
  const ids = chosen.instances.map((instance) => instance.id);
  return { action, outcomes: await performAll(host, ids, signal) };
}

async function performAll<Done extends InstanceMessage>(
  host: ActionHost<Done>,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<Outcome<Done>[]> {
  const results = new Map<string, Outcome<Done>['result']>();
  let isOver = false;
  const waiting = ids.values();
  const work = async (): Promise<void> => {
    for (const id of waiting) {
      if (isOver || signal.aborted) return;
      try {
        results.set(id, { done: await host.perform(id) });
      } catch (error) {
        const refusal = host.refusalOf(error);
        if (refusal === undefined) throw error;
        results.set(id, { refusal });
        isOver ||= refusal.isFinal;
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return ids.map((id) => ({ id, result: results.get(id) ?? null }));
}

async function listOf(instances: readonly InstanceInfo[]): Promise<string[]> {
  const rows = instances
    .slice(0, MOST_SHOWN)
    .map(({ id, configurationName, state, wrapperNodeId, players }) => [
      id,
      configurationName,
      state,
      wrapperNodeId,
      players,
    ]);
  const head = ['ID', 'CONFIGURATION', 'STATE', 'NODE', 'PLAYERS'];
  const lines = (await tableOf({ columns: undefined }, head, rows, '')).split('\n');
  const more = instances.length - rows.length;
  return more === 0 ? lines : [...lines, `... and ${countText(more, 'more instance')}`];
}
