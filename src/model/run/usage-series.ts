/**
 * What instances used over a time, as series with one value for each step. A node folds its samples into them, and the
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
export const minuteSampleSchema = z.tuple([z.string(), z.string(), figure, figure, figure, z.int()]);
export type MinuteSample = z.output<typeof minuteSampleSchema>;

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

/** The series in the map that is about the same; makes an empty one where there is none. */
function seriesIn(map: Map<string, UsageSeries>, group: Group, points: number): UsageSeries {
  const key = `${group.instance} ${group.configuration}`;
  const series = map.get(key) ?? emptySeries(group, points);
  map.set(key, series);
  return series;
}

/** Adds series of the same length that are about the same. */
export function sumOfSeries(all: readonly UsageSeries[]): UsageSeries[] {
  const sums = new Map<string, UsageSeries>();
  for (const one of all) {
    const sum = seriesIn(sums, one, one.cpuPercent.length);
    for (const name of FIGURES)
      sum[name] = sum[name].map((value, at) => joined(value, one[name][at] ?? null));
  }
  return [...sums.values()];
}

/** Folds the samples of a node, minute by minute in their order, into the series of a question. */
export class UsageFold {
  readonly #question: UsageQuestion;
  readonly #newest: number;
  readonly #series = new Map<string, UsageSeries>();
  /** The number of the latest run of each instance. */
  readonly #runs = new Map<string, number>();
  /** How many samples each step has. */
  readonly #minutes: number[];

  constructor(question: UsageQuestion, now: number) {
    this.#question = question;
    this.#newest = Math.floor(now / question.everyMs);
    this.#minutes = new Array<number>(question.points).fill(0);
  }

  /** `at`: Unix milliseconds. A minute outside of the question counts only for the restarts after it. */
  add(at: number, samples: readonly MinuteSample[]): void {
    const { points, by, everyMs, instance, configurations } = this.#question;
    const place = points - 1 - (this.#newest - Math.floor(at / everyMs));
    const isAsked = place >= 0 && place < points;
    const sums = new Map<string, UsageSeries>();
    for (const [id, name, cpuPercent, memoryBytes, players, run] of samples) {
      const restarts = Math.max(0, run - (this.#runs.get(id) ?? run));
      this.#runs.set(id, run);
      const isWanted = (instance ?? id) === id && (configurations?.includes(name) ?? true);
      if (!isAsked || !isWanted) continue;
      const group = { instance: by === 'instance' ? id : null, configuration: by === 'all' ? null : name };
      const sum = seriesIn(sums, group, 1);
      const sample = { cpuPercent, memoryBytes, players, restarts };
      for (const figure of FIGURES) sum[figure][0] = joined(sum[figure][0] ?? null, sample[figure]);
    }
    if (isAsked) this.#minutes[place] = (this.#minutes[place] ?? 0) + 1;
    for (const sum of sums.values()) {
      const series = seriesIn(this.#series, sum, points);
      for (const figure of FIGURES) {
        const isMost = figure === 'memoryBytes' || figure === 'players';
        const before = series[figure][place] ?? null;
        series[figure][place] = joined(before, sum[figure][0] ?? null, isMost ? Math.max : undefined);
      }
    }
  }

  result(): UsageSeries[] {
    const average = (value: Value, place: number): Value =>
      value === null ? null : Math.round((value / (this.#minutes[place] ?? 1)) * 10) / 10;
    return [...this.#series.values()].map((one) => ({ ...one, cpuPercent: one.cpuPercent.map(average) }));
  }
}
