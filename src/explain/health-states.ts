/**
 * The states of a configuration's health, and how urgent each is. The page loads this file too, so it imports nothing.
 */

/** The worst comes first: a configuration has the first state that applies. */
export const HEALTH_STATES = [
  'broken-file',
  'failing',
  'not-placed',
  'held-back',
  'rolling',
  'below-minimum',
  'awaiting-promotion',
  'paused',
  'removed',
  'rolled-back',
  'finished',
  'healthy',
] as const;
export type HealthState = (typeof HEALTH_STATES)[number];

/** `bad`: a person must act. `busy`: Drover works on it, or waits for a person. `still`: at rest. */
export type HealthTone = 'bad' | 'busy' | 'still' | 'good';

export const HEALTH_TONES: Readonly<Record<HealthState, HealthTone>> = {
  'broken-file': 'bad',
  failing: 'bad',
  'not-placed': 'bad',
  'held-back': 'bad',
  rolling: 'busy',
  'below-minimum': 'busy',
  'awaiting-promotion': 'busy',
  paused: 'still',
  removed: 'still',
  'rolled-back': 'still',
  finished: 'still',
  healthy: 'good',
};

/** Orders states, the worst first. */
export function byHealth(a: HealthState, b: HealthState): number {
  return HEALTH_STATES.indexOf(a) - HEALTH_STATES.indexOf(b);
}
