/** A note for a place where nothing is shown yet: it says how something gets there. */
import type { ComponentChildren } from 'preact';

interface EmptyProps {
  readonly title: string;
  /** How something gets here. */
  readonly hint?: ComponentChildren;
  /** The button or link that brings something here. */
  readonly action?: ComponentChildren;
}

export function Empty({ title, hint, action }: EmptyProps) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {hint !== undefined && <p class="quiet">{hint}</p>}
      {action !== undefined && <div>{action}</div>}
    </div>
  );
}
