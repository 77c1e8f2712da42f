/**
 * When a started process counts as ready, by its configuration: a line in its log, a TCP port that accepts, or an HTTP
 * answer. The words for it stand here too, so that node and master say the same.
 */
import { z } from 'zod';
import { portSchema } from './names.js';

/** The instance's own port. */
export const OWN_PORT = '%PORT%';

const MAX_PATTERN_CHARS = 200;
const MAX_PATH_CHARS = 1024;
const CHECKS = ['logLine', 'tcpPort', 'httpGet'] as const;

const portOrOwnSchema = z.union([portSchema, z.literal(OWN_PORT)], {
  error: `must be a port from 1 to 65535, or ${JSON.stringify(OWN_PORT)}`,
});

/** A literal text in which `*` stands for any characters. The search stays cheap, whatever an instance prints. */
const logLineSchema = z
  .string()
  .min(1)
  .max(MAX_PATTERN_CHARS)
  .regex(/^[^\x00-\x1f\x7f]*$/, 'must be one line without control characters')
  .refine((text) => /[^*\s]/.test(text), { error: 'must hold more than "*" and spaces' });

const httpGetSchema = z.strictObject({
  /** The path with its query, as it stands in the request. */
  path: z
    .string()
    .max(MAX_PATH_CHARS)
    .regex(/^\/[!-~]*$/, 'must begin with "/" and hold neither spaces nor other than ASCII characters'),
  port: portOrOwnSchema.default(OWN_PORT),
});

/** The fields of a check at a port. */
export const CHECKED_PORT = { tcpPort: portOrOwnSchema.optional(), httpGet: httpGetSchema.optional() };

export const readinessSchema = z
  .strictObject({
    /** A text that a complete line of output must contain; escape sequences do not count. */
    logLine: logLineSchema.optional(),
    ...CHECKED_PORT,
    /** After this time the instance is reported as not ready. It is not stopped. */
    timeoutSeconds: z.int().min(1).max(86_400).default(60),
    /** The interval between two tries, for `tcpPort` and `httpGet`. */
    intervalSeconds: z.number().min(0.1).max(3600).default(1),
  })
  .refine((readiness) => CHECKS.filter((check) => readiness[check] !== undefined).length === 1, {
    error: `must hold exactly one of ${CHECKS.join(', ')}`,
  });

export type Readiness = z.output<typeof readinessSchema>;
type PortCheck = Pick<Readiness, 'tcpPort' | 'httpGet'>;

/**
 * The path of the field of `readiness` or `liveness` that uses the instance's own port, so that the configuration must
 * have `availablePorts`; undefined: none does.
 */
export function ownPortField({ tcpPort, httpGet }: PortCheck): readonly string[] | undefined {
  if (tcpPort === OWN_PORT) return ['tcpPort'];
  return httpGet?.port === OWN_PORT ? ['httpGet', 'port'] : undefined;
}

/** The condition that the check waits for, as words after `waiting for`. `port` is the instance's own. */
export function readinessText(
  { logLine, tcpPort, httpGet }: PortCheck & Pick<Readiness, 'logLine'>,
  port: number | null,
): string {
  const number = (field: number | typeof OWN_PORT): number | string =>
    field === OWN_PORT ? (port ?? field) : field;
  if (logLine !== undefined) return `a log line with ${JSON.stringify(logLine)}`;
  if (tcpPort !== undefined) return `TCP port ${number(tcpPort)} to accept connections`;
  if (httpGet === undefined) return 'nothing';
  return `GET ${httpGet.path} on port ${number(httpGet.port)} to answer with 2xx or 3xx`;
}
