/** The field `job`: a configuration whose instances are runs, which somebody or a schedule asks for. */
import { z } from 'zod';
import { matchesAny } from '../access/name-pattern.js';
import { invalidRequest } from '../errors.js';
import { placeholderNames } from '../names.js';
import { listText, quoteText } from '../words.js';

const timeoutSchema = z.int().min(1).max(604_800);

/** A value becomes a variable of the environment as it is: by a `%NAME%` a caller could learn what Drover knows. */
const valueSchema = z
  .string()
  .max(4096)
  .refine((text) => !text.includes('\0') && placeholderNames(text).length === 0, {
    error: 'must not hold a %NAME% or a NUL character',
  });

/** `default`: the value where a run gives none; without it a run must give one. */
const parameterSchema = z
  .object({
    default: valueSchema.optional().describe('the usual value'),
    /** What a value may be; a star stands for any text. Absent: anything. */
    values: z.array(z.string().min(1).max(200)).min(1).max(50).optional(),
  })
  .refine(({ default: usual, values }) => usual === undefined || isAllowed(usual, values), {
    path: ['default'],
    error: 'must be one of "values"',
  });

export const jobSchema = z.object({
  /** The values that a run may set, by the name of the variable. */
  parameters: z
    .record(z.string().regex(/^(?!DROVER_)[A-Za-z_]\w{0,127}$/), parameterSchema)
    .refine((all) => Object.keys(all).length <= 64, { error: 'must have at most 64 entries' })
    .default({}),
  /** How long the program may run. Absent: as long as it likes. */
  timeoutSeconds: timeoutSchema.optional(),
  /** How many times the program is started again after a failure. Absent: until it succeeds. */
  retries: z.int().min(0).max(1000).optional(),
});

function isAllowed(value: string, values: readonly string[] | undefined): boolean {
  return values === undefined || matchesAny(values, value);
}

export const jobOrderSchema = z.object({
  parameters: z
    .record(z.string(), valueSchema)
    .default({})
    .describe('values by the names in `job.parameters`'),
  timeoutSeconds: timeoutSchema.optional().describe('where it is less than `job.timeoutSeconds`'),
  key: z
    .string()
    .max(200)
    .optional()
    .describe('a text of your own: with the same one again, the answer is the same run'),
});
export type JobOrder = z.output<typeof jobOrderSchema>;

/** The run in the record of its instance: its order with the defaults of the job. Throws DRV_REQUEST_INVALID. */
export function jobRunOf(
  { parameters, timeoutSeconds }: z.output<typeof jobSchema>,
  order: JobOrder,
): JobOrder {
  const unknown = Object.keys(order.parameters).find((name) => !Object.hasOwn(parameters, name));
  if (unknown !== undefined)
    throw invalidRequest(
      `parameters: ${quoteText(unknown)} is none of the job: ${listText(Object.keys(parameters), 10)}`,
    );
  const given = Object.entries(parameters).map(([name, { default: usual, values }]) => {
    const value = Object.hasOwn(order.parameters, name) ? order.parameters[name] : usual;
    if (value === undefined) throw invalidRequest(`parameters.${name}: must be given: it has no default`);
    if (!isAllowed(value, values))
      throw invalidRequest(`parameters.${name}: must be one of ${listText(values ?? [], 10)}`);
    return [name, value] as const;
  });
  const limits = [timeoutSeconds, order.timeoutSeconds].filter((one) => one !== undefined);
  const limit = limits.length === 0 ? undefined : Math.min(...limits);
  return { ...order, parameters: Object.fromEntries(given), timeoutSeconds: limit };
}
