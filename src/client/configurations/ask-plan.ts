/** Asks the master how documents together would change the configurations and their instances. */
import { ClientError, EXIT } from '../../command-tree/runs/client-error.js';
import { listText } from '../../model/words.js';
import type { ChangePlan, PlannedConfiguration } from '../../operations/plan/change-plan.js';
import type { ApiClient } from '../api-client.js';
import type { Document } from './documents.js';
import { warningText } from './documents.js';

/** The most characters of JSON in one request, and what an item takes beside its content. So a request holds few values. */
const MOST_CHARS = 128 * 1024;
const ITEM_CHARS = 256;
/** The most names that a message lists. */
const MOST_NAMED = 10;

export interface PlanQuestion {
  /** True: configurations without a file are deleted. */
  readonly prune: boolean;
  readonly showValues: boolean;
  /** That of the plan that the person has read. The master answers with a conflict when the plan has changed since. */
  readonly fingerprint?: string | undefined;
}

export function askPlan(
  api: ApiClient,
  documents: readonly Document[],
  question: PlanQuestion,
): Promise<ChangePlan> {
  const configurations = documents.map(({ name, content }) => ({ ...content, name }));
  return api.send<ChangePlan>('POST', '/plan', { configurations, keepManaged: true, ...question });
}

/** The answer for documents that are to be written. Only a plan as a whole can be checked, or can remove others. */
export async function askBeforeWrites(
  api: ApiClient,
  documents: readonly Document[],
  question: PlanQuestion,
): Promise<Pick<ChangePlan, 'configurations' | 'others' | 'warnings'>> {
  if (question.prune || question.fingerprint !== undefined) return askPlan(api, documents, question);
  const names = new Set(documents.map(({ name }) => name));
  const plans: ChangePlan[] = [];
  for (const some of inBatches(documents, ({ content }) => content))
    plans.push(await askPlan(api, some, question));
  return {
    configurations: plans.flatMap(({ configurations }) => configurations),
    others: plans[0]?.others?.filter((name) => !names.has(name)) ?? [],
    warnings: plans.flatMap(({ warnings }) => warnings),
  };
}

/** The sentence about configurations that the files leave out, if there are any. An older master does not tell them. */
export function othersText({ others = [] }: Partial<Pick<ChangePlan, 'others'>>): string[] {
  if (others.length === 0) return [];
  const [are, them] = others.length === 1 ? ['is', 'it'] : ['are', 'them'];
  const names = listText(others, MOST_NAMED);
  return [`${others.length} on the master ${are} in none of these files: ${names}; --prune deletes ${them}`];
}

/** Cuts items into groups of which each fits into one request. */
export function inBatches<T>(items: readonly T[], contentOf: (item: T) => unknown): T[][] {
  const batches: T[][] = [];
  let room = 0;
  for (const item of items) {
    const length = JSON.stringify(contentOf(item)).length + ITEM_CHARS;
    room -= length;
    const last = batches.at(-1);
    if (last !== undefined && room >= 0) last.push(item);
    else {
      batches.push([item]);
      room = MOST_CHARS - length;
    }
  }
  return batches;
}

/** The warning of a plan in words, with its line in the file. */
export function planWarningText(
  documents: readonly Document[],
  { configurationName, field, message }: ChangePlan['warnings'][number],
): string {
  const document = documents.find(({ name }) => name === configurationName);
  return document === undefined || field === null
    ? message
    : warningText(document, { line: null, column: null, field, message });
}

/** Throws the error of a command whose configurations are as their files say, but some are held back. */
export function requireNoneHeldBack(
  configurations: readonly Pick<PlannedConfiguration, 'name' | 'heldBack'>[],
): void {
  const names = configurations.filter(isHeldBack).map(({ name }) => name);
  if (names.length === 0) return;
  throw new ClientError(
    EXIT.heldBack,
    `held back, so that no instance is made from what the files say: ${listText(names, MOST_NAMED)}; "drover config why NAME" says why`,
  );
}

/** An older master does not say it. */
export function isHeldBack({ heldBack }: Pick<PlannedConfiguration, 'heldBack'>): boolean {
  return typeof heldBack === 'string';
}
