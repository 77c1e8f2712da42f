/** When and from where a key or session was used last. */
import { Time } from '../../parts/time.js';
import { text } from './text.js';

export function LastUse({ at, from }: { readonly at: number | null; readonly from: string | null }) {
  return (
    <span>
      <Time at={at} /> {from !== null && <span class="quiet">{text.usedFrom(from)}</span>}
    </span>
  );
}
