/** The daemon's own log: JSON lines in logs/drover.log, readable lines on a terminal. */
import type { Logger as PinoLogger } from 'pino';

/** What parts log to. `child({ ... })` adds fields. Never pass tokens or environment values. */
export type Logger = Pick<PinoLogger, 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'child'>;
