/**
 * Limits and defaults that commands and routes share. This file imports nothing, so that the client loads no schemas
 * with it.
 */

export const MAX_LOG_LINES = 1000;
export const DEFAULT_LOG_LINES = 100;

/** The most instances that a single command makes. */
export const MAX_CREATED = 100;

/** The most instances that a configuration may ask for. */
export const MAX_SERVICE_COUNT = 100_000;

/** How long a drain waits for players by default. */
export const DRAIN_DEADLINE_SECONDS = 600;
export const MAX_DRAIN_DEADLINE_SECONDS = 30 * 86_400;

export const JOIN_TOKEN_SECONDS = 86_400;
export const MAX_JOIN_TOKEN_USES = 100_000;

/** The most patterns of configurations, and the most ranges of addresses, of one key. */
export const MAX_KEY_ENTRIES = 64;

/** The causes of an end that nobody asked for. */
export const EXIT_CAUSES = ['exited', 'signal', 'out-of-memory', 'not-alive', 'unseen'] as const;
/** How many last lines are kept of an end that nobody asked for. */
export const MOST_EXIT_LINES = 50;
