/** A share of something as a bar and as text. */

interface MeterProps {
  readonly label: string;
  readonly value: number;
  readonly most: number;
  /** The share as text, such as `1.2 of 4 GB`. */
  readonly text: string;
}

export function Meter({ label, value, most, text }: MeterProps) {
  const share = most > 0 ? Math.min(1, value / most) : 0;
  return (
    <div class="meter">
      <div class="meter-words">
        <span>{label}</span>
        <span class="quiet">{text}</span>
      </div>
      <div class="meter-bar" aria-hidden="true">
        <div
          class={share > 0.9 ? 'meter-fill meter-full' : 'meter-fill'}
          style={{ width: `${share * 100}%` }}
        />
      </div>
    </div>
  );
}
