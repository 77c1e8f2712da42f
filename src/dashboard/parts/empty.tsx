/** What stands where nothing is: it says how something comes there. */
import type { ComponentChildren } from 'preact';

export interface EmptyProps {
  readonly title: string;
  /** What makes something appear here. */
  readonly hint?: ComponentChildren;
  /** The button or link that does it. */
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
