/** The columns of the table of keys. */
import type { ListedKey } from '../../../../api/routes/key-routes.js';
import { Badge } from '../../../parts/state-badge.js';
import type { TableColumn } from '../../../parts/table/table.js';
import { Time } from '../../../parts/time.js';
import { LastUse } from '../last-use.js';
import { text } from '../text.js';

/** `mine`: the label of the key that is signed in. */
export function keyColumns(mine: string): readonly TableColumn<ListedKey>[] {
  return [
    {
      id: 'label',
      label: text.label,
      cell: ({ label }) => (
        <span class="inline">
          <strong>{label}</strong> {label === mine && <Badge tone="good" label={text.mine} />}
        </span>
      ),
    },
    { id: 'scope', label: text.scope, cell: ({ scope }) => scope },
    {
      id: 'configurations',
      label: text.configurations,
      cell: ({ configurations }) => listed(configurations, text.all),
    },
    { id: 'from', label: text.from, cell: ({ from }) => listed(from, text.anywhere) },
    {
      id: 'ends',
      label: text.ends,
      cell: ({ expiresAt, isExpired }) => (
        <span class="inline">
          {isExpired && <Badge tone="still" label={text.expired} />} <Time at={expiresAt} />
        </span>
      ),
    },
    {
      id: 'used',
      label: text.lastUse,
      cell: ({ lastUsedAt, lastUsedFrom }) => <LastUse at={lastUsedAt} from={lastUsedFrom} />,
    },
    { id: 'token', label: text.token, cell: ({ mask }) => <span class="mono">{mask}</span> },
    { id: 'created', label: text.created, cell: ({ createdAt }) => <Time at={createdAt} /> },
  ];
}

function listed(values: readonly string[] | null, none: string) {
  return values === null ? <span class="quiet">{none}</span> : values.join(', ');
}
