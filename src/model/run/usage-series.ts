/**
 * The usage of instances over a time, as series with one value for each step. A node folds its samples into them, and the
 * master adds those of several nodes. Pure.
 */
import { z } from 'zod';
import { instanceIdSchema, nameSchema } from '../names.js';

export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;
/** The most values of one series: a sample a minute for a day. */
const MOST_POINTS = DAY_MS / MINUTE_MS;

export const usageGroupingSchema = z.enum(['all', 'configuration', 'instance']);

/** The question to a node. The last value is that of the step that has begun last. */
export const usageQuestionSchema = z.object({
  everyMs: z.int().min(MINUTE_MS).max(DAY_MS),
  points: z.int().min(1).max(MOST_POINTS),
  by: usageGroupingSchema,
  /** Only this instance. */
  instance: instanceIdSchema.optional(),
  /** Only instances of these configurations. */
  configurations: z.array(nameSchema).optional(),
});
export type UsageQuestion = z.output<typeof usageQuestionSchema>;

const figure = z.number().nullable();
const values = z.array(figure).max(MOST_POINTS);
/** Null: nothing is known of that step. */
export const usageFiguresSchema = z.object({
  cpuPercent: values.describe('a value for each step, the average; 100 = one core; null: it was not known'),
  memoryBytes: values.describe('the most in each step, as are the players'),
  players: values,
  restarts: values.describe('how many starts there were after the first one'),
});

export const usageSeriesSchema = usageFiguresSchema.extend({
  instance: z.string().nullable().describe('null: the sum of several'),
  configuration: z.string().nullable().describe('null: the sum of several'),
});
export type UsageSeries = z.output<typeof usageSeriesSchema>;

/** An instance in a minute: id, configuration, CPU percent, bytes of memory, players, number of its run. */
export type MinuteSample = readonly [string, string, Value, Value, Value, number];

/** Checks one sample. A day of a large node has a million: a schema would take most of the time of an answer. */
export function isMinuteSample(one: unknown): one is MinuteSample {
  const [id, name, ...figures]: unknown[] = Array.isArray(one) ? one : [];
  if (typeof id !== 'string' || typeof name !== 'string' || !Number.isInteger(figures[3])) return false;
  return figures.every((value) => typeof value === 'number' || value === null);
}

const FIGURES = ['cpuPercent', 'memoryBytes', 'players', 'restarts'] as const;
type Value = number | null;
type Group = Pick<UsageSeries, 'instance' | 'configuration'>;

/** Sums, or takes the greater one with `join`; a value that is not known leaves the other. */
function joined(a: Value, b: Value, join = (x: number, y: number): number => x + y): Value {
  return a === null || b === null ? (a ?? b) : join(a, b);
}

function emptySeries({ instance, configuration }: Group, points: number): UsageSeries {
  const nothing = (): null[] => new Array<null>(points).fill(null);
  const figures = { cpuPercent: nothing(), memoryBytes: nothing(), players: nothing(), restarts: nothing() };
  return { instance, configuration, ...figures };
}

function keyOf({ instance, configuration }: Group): string {
  return `${instance} ${configuration}`;
}

/** Adds series of the same length that are about the same. */
export function sumOfSeries(all: readonly UsageSeries[]): UsageSeries[] {
  const sums = new Map<string, UsageSeries>();
  for (const one of all) {
    const key = keyOf(one);
    const sum = { ...(sums.get(key) ?? one) };
    sums.set(key, sum);
    if (sum.cpuPercent !== one.cpuPercent)
      for (const name of FIGURES)
        sum[name] = sum[name].map((value, at) => joined(value, one[name][at] ?? null));
  }
  return [...sums.values()];
}

/** Folds the samples of a node, minute by minute in their order, into the series of a question. */
export class UsageFold {
  readonly #question: UsageQuestion;
  readonly #configurations: ReadonlySet<string> | undefined;
  readonly #newest: number;
  readonly #series = new Map<string, UsageSeries>();
  /** The number of the latest run of each instance. */
  readonly #runs = new Map<string, number>();
  /** How many samples each step has. */
  readonly #minutes: number[];

  constructor(question: UsageQuestion, now: number) {
    this.#question = question;
    this.#configurations = question.configurations && new Set(question.configurations);
    this.#newest = Math.floor(now / question.everyMs);
    this.#minutes = new Array<number>(question.points).fill(0);
  }

  /** `at`: Unix milliseconds. A minute outside of the question counts only for the restarts after it. */
  add(at: number, samples: readonly MinuteSample[]): void {
    const { points, by, everyMs, instance } = this.#question;
    const place = points - 1 - (this.#newest - Math.floor(at / everyMs));
    const isAsked = place >= 0 && place < points;
    const sums = new Map<string, Group & { readonly values: Value[] }>();
    for (const [id, name, cpuPercent, memoryBytes, players, run] of samples) {
      const restarts = Math.max(0, run - (this.#runs.get(id) ?? run));
      this.#runs.set(id, run);
      const isWanted = (instance ?? id) === id && (this.#configurations?.has(name) ?? true);
      if (!isAsked || !isWanted) continue;
      const group = { instance: by === 'instance' ? id : null, configuration: by === 'all' ? null : name };
      const values = [cpuPercent, memoryBytes, players, restarts];
      const sum = sums.get(keyOf(group))?.values;
      if (sum === undefined) sums.set(keyOf(group), { ...group, values });
      else for (const [which, value] of values.entries()) sum[which] = joined(sum[which] ?? null, value);
    }
    if (isAsked) this.#minutes[place] = (this.#minutes[place] ?? 0) + 1;
    for (const [key, sum] of sums) {
      const series = this.#series.get(key) ?? emptySeries(sum, points);
      this.#series.set(key, series);
      for (const [which, figure] of FIGURES.entries()) {
        const isMost = figure === 'memoryBytes' || figure === 'players';
        const [before = null, value = null] = [series[figure][place], sum.values[which]];
        series[figure][place] = joined(before, value, isMost ? Math.max : undefined);
      }
    }
  }

  result(): UsageSeries[] {
    const average = (value: Value, place: number): Value =>
      value === null ? null : Math.round((value / (this.#minutes[place] ?? 1)) * 10) / 10;
    return [...this.#series.values()].map((one) => ({ ...one, cpuPercent: one.cpuPercent.map(average) }));
  }
}
