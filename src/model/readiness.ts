/**
 * When a started process counts as ready, by its configuration: a line in its log, a TCP port that accepts, or an HTTP
 * answer. The words for it stand here too, so that node and master say the same.
 */
import { z } from 'zod';
import { type OwnPorts, portNumber } from './fields/ports.js';
import { portSchema } from './names.js';

/** The instance's own main port. */
export const OWN_PORT = '%PORT%';

const MAX_PATTERN_CHARS = 200;
const MAX_PATH_CHARS = 1024;
const CHECKS = ['logLine', 'tcpPort', 'httpGet'] as const;

const portOrOwnSchema = z.union([
  portSchema,
  z
    .string()
    .regex(/^%PORT(?:_[A-Z0-9_]+)?%$/)
    .meta({ examples: [OWN_PORT, '%PORT_QUERY%'] }),
]);

/** A literal text in which `*` stands for any characters. The search stays cheap, whatever an instance prints. */
const logLineSchema = z
  .string()
  .min(1)
  .max(MAX_PATTERN_CHARS)
  .regex(/^[^\x00-\x1f\x7f]*$/, 'must be one line without control characters')
  .refine((text) => /[^*\s]/.test(text), { error: 'must hold more than "*" and spaces' });

const httpGetSchema = z.object({
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
  .object({
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

/** The field of `readiness` or `liveness` with a port, as path and value; undefined: it asks at none. */
export function portField({ tcpPort, httpGet }: PortCheck): [readonly string[], number | string] | undefined {
  if (tcpPort !== undefined) return [['tcpPort'], tcpPort];
  return httpGet && [['httpGet', 'port'], httpGet.port];
}

/** The condition that the check waits for, as words after `waiting for`. `own`: the ports of the instance. */
export function readinessText(
  { logLine, tcpPort, httpGet }: PortCheck & Pick<Readiness, 'logLine'>,
  own: OwnPorts,
): string {
  const number = (field: number | string): number | string => portNumber(field, own) ?? field;
  if (logLine !== undefined) return `a log line with ${JSON.stringify(logLine)}`;
  if (tcpPort !== undefined) return `TCP port ${number(tcpPort)} to accept connections`;
  if (httpGet === undefined) return 'nothing';
  return `GET ${httpGet.path} on port ${number(httpGet.port)} to answer with 2xx or 3xx`;
}
