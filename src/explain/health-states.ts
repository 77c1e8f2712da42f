/**
 * The states of a configuration's health, and how urgent each is. The page loads this file too, so it imports nothing.
 */

/** `bad`: a person must act. `busy`: Drover works on it, or waits for a person. `still`: at rest. */
export type HealthTone = 'bad' | 'busy' | 'still' | 'good';

/** The states with their tones. The worst comes first: a configuration has the first state that applies. */
export const HEALTH_TONES = {
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
} as const satisfies Readonly<Record<string, HealthTone>>;
export type HealthState = keyof typeof HEALTH_TONES;
export const HEALTH_STATES = Object.keys(HEALTH_TONES) as readonly HealthState[];

/** Orders states, the worst first. */
export function byHealth(a: HealthState, b: HealthState): number {
  return HEALTH_STATES.indexOf(a) - HEALTH_STATES.indexOf(b);
}
