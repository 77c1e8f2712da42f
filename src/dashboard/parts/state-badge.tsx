/** A state by colour, shape and word: a full circle is good, a ring is busy, a square is at rest, a triangle is bad. */

import type { Health } from '../../explain/health.js';
import { HEALTH_TONES, type HealthTone } from '../../explain/health-states.js';
import type { InstanceInfo } from '../../model/instance.js';
import { runFailure } from '../../model/plain/run-failure.js';
import type { PendingActions } from './pending-actions.js';
import { text } from './text.js';

/** The tone of a state, which chooses the colour and shape of a badge. */
export type Tone = HealthTone;

const TONES: Readonly<Record<keyof typeof text.states, Tone>> = {
  CREATING: 'busy',
  ONLINE: 'good',
  OFFLINE: 'bad',
  STOPPED: 'still',
  connected: 'good',
  returning: 'busy',
  lost: 'bad',
};

interface BadgeProps {
  readonly tone: Tone;
  readonly label: string;
  /** True when the label is an action that was asked for and that the state does not show yet. */
  readonly isPending?: boolean;
}

export function Badge({ tone, label, isPending = false }: BadgeProps) {
  return (
    <span class={`badge tone-${tone}${isPending ? ' badge-pending' : ''}`}>
      <Dot tone={tone} />
      {label}
    </span>
  );
}

/** The colour and shape of a tone, beside a word. */
export function Dot({ tone }: { readonly tone: Tone }) {
  return (
    <svg class={`badge-shape tone-${tone}`} viewBox="0 0 10 10" aria-hidden="true">
      <Shape tone={tone} />
    </svg>
  );
}

/** The colour and shape of a state, for views that show many states without words. */
export function toneOf(state: keyof typeof text.states): Tone {
  return TONES[state];
}

/** The badge of an instance's state or a node's condition. */
export function StateBadge({ state }: { readonly state: keyof typeof text.states }) {
  return <Badge tone={TONES[state]} label={text.states[state]} />;
}

/** The badge of a configuration's health. */
export function HealthBadge({ health: { state, text: label } }: { readonly health: Health }) {
  return <Badge tone={HEALTH_TONES[state]} label={label} />;
}

interface InstanceBadgeProps {
  readonly instance: InstanceInfo;
  readonly pending?: PendingActions;
}

/** The badge of an instance's state, or of the action that the state does not show yet. */
export function InstanceBadge({ instance, pending }: InstanceBadgeProps) {
  const action = pending?.of(instance);
  if (action !== undefined) return <Badge tone="busy" label={text.pending(action)} isPending />;
  // Nothing starts while no node takes the instance.
  if (instance.reason === 'no-node-fits') return <Badge tone="bad" label={text.notPlaced} />;
  const failure = runFailure(instance);
  if (failure !== undefined) return <Badge tone="bad" label={failure} />;
  return <StateBadge state={instance.state} />;
}

function Shape({ tone }: { readonly tone: Tone }) {
  switch (tone) {
    case 'good':
      return <circle cx="5" cy="5" r="4" />;
    case 'busy':
      return <circle cx="5" cy="5" r="3.2" fill="none" stroke="currentColor" stroke-width="1.8" />;
    case 'bad':
      return <path d="M5 .8 9.7 9H.3z" />;
    case 'still':
      return <rect x="1.2" y="1.2" width="7.6" height="7.6" rx="1" />;
  }
}
