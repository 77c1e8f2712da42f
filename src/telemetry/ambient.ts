/** The two things that nearly every part of a node is built with. */
import type { Clock } from '../loop/clock.js';
import type { Logger } from './logger.js';

/** Options of a part extend it. The composition roots hand in the same clock and log to all parts of a node. */
export interface Ambient {
  readonly clock: Clock;
  readonly logger: Logger;
}
