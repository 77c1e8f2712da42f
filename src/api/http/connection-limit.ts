/** Bounds how many connections the server holds, so that clients cannot use up the file descriptors of the node. */
import { readFileSync } from 'node:fs';
import type { Server } from 'node:net';
import type { Clock } from '../../loop/clock.js';
import type { Logger } from '../../telemetry/logger.js';

const MAX_CONNECTIONS = 16_384;
const LOG_EVERY_MS = 60_000;
const OPEN_FILES = /^Max open files\s+(\d+)/m;

/**
 * Limits the server to half of the files that the process may open, 16,384 at most. Connections beyond that are
 * closed at once; the log says so once a minute.
 */
export function limitConnections(
  server: Server,
  { clock, logger }: { readonly clock: Clock; readonly logger: Pick<Logger, 'warn'> },
): void {
  const limit = connectionLimit(readFileSync('/proc/self/limits', 'utf8'));
  server.maxConnections = limit;
  let quietUntil = Number.NEGATIVE_INFINITY;
  server.on('drop', () => {
    const now = clock.monotonic();
    if (now < quietUntil) return;
    quietUntil = now + LOG_EVERY_MS;
    logger.warn({ limit }, `the API has ${limit} connections, its limit: new ones are closed`);
  });
}

/** The limit, from the text of `/proc/self/limits`. */
export function connectionLimit(limits: string): number {
  const openFiles = Number(OPEN_FILES.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  return Math.min(MAX_CONNECTIONS, Math.floor(openFiles / 2));
}
