/** A share of something as a bar and as text. */
import { NOTHING } from './amounts.js';

interface MeterProps {
  readonly label: string;
  readonly value: number;
  readonly most: number;
  /** The part of the value that stands out in the bar, such as what is used of what is reserved. */
  readonly inner?: number;
  /** The share as text, such as `1.2 of 4 GB`. */
  readonly text: string;
}

export function Meter({ label, value, most, inner, text }: MeterProps) {
  const widthOf = (amount: number): string => `${most > 0 ? Math.min(1, amount / most) * 100 : 0}%`;
  return (
    <div class="d-grid gap-1">
      <div class="meter-words">
        <span>{label}</span>
        <span class="quiet">{text}</span>
      </div>
      <div class="meter-bar" aria-hidden="true">
        <div
          class={`meter-fill${inner === undefined ? '' : ' meter-held'}${value > most * 0.9 ? ' meter-full' : ''}`}
          style={{ width: widthOf(value) }}
        />
        {inner !== undefined && <div class="meter-fill" style={{ width: widthOf(inner) }} />}
      </div>
    </div>
  );
}

/** A share as words with a small bar, for a cell of a table; `words` null: it is not known. */
export function Bar({ share, words }: { readonly share: number; readonly words: string | null }) {
  if (words === null) return <>{NOTHING}</>;
  return (
    <span class="small-bar">
      <span class="meter-bar" aria-hidden="true">
        <span class="meter-fill" style={{ width: `${Math.min(1, share) * 100}%` }} />
      </span>
      {words}
    </span>
  );
}
