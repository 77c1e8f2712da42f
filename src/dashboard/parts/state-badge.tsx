/** A state by colour, shape and word: a full circle is good, a ring is busy, a square is at rest, a triangle is bad. */
import { text } from './text.js';
import type { Tone } from './tone.js';

export type { Tone };

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
  /** True when the operator has asked for it and the state has not confirmed it yet. */
  readonly isPending?: boolean;
}

export function Badge({ tone, label, isPending = false }: BadgeProps) {
  return (
    <span class={`badge badge-${tone}${isPending ? ' badge-pending' : ''}`}>
      <svg class="badge-shape" viewBox="0 0 10 10" aria-hidden="true">
        <Shape tone={tone} />
      </svg>
      {label}
    </span>
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
