/** The column that says when and from where a key or session was used last. */
import type { ListedKey } from '../../../api/routes/key-routes.js';
import { Time } from '../../parts/time.js';
import { text } from './text.js';

export const LAST_USE = {
  label: text.lastUse,
  cell: ({ lastUsedAt: at, lastUsedFrom: from }: Pick<ListedKey, 'lastUsedAt' | 'lastUsedFrom'>) => (
    <span>
      <Time at={at} /> {from !== null && <span class="quiet">{text.usedFrom(from)}</span>}
    </span>
  ),
};
