/** The list of all configurations, the worst health first. */
import { megabytes, NOTHING } from '../../parts/amounts.js';
import type { Column } from '../../parts/grid/grid.js';
import { SearchedList } from '../../parts/grid/searched-list.js';
import { HealthBadge } from '../../parts/state-badge.js';
import { hrefOf } from '../../router/place.js';
import { useServices } from '../../services/services.js';
import { CreateDialog } from './create.js';
import type { ConfigurationRow } from './rows.js';
import { text } from './text.js';
import { useConfigurations } from './use-configurations.js';

const COLUMNS: readonly Column<ConfigurationRow>[] = [
  { label: text.name, width: 160, grow: 1, phone: 'first', cell: ({ name }) => <bdi>{name}</bdi> },
  { label: text.state, width: 190, phone: 'second', cell: ({ health }) => <HealthBadge health={health} /> },
  {
    label: text.online,
    width: 110,
    isNumber: true,
    phone: 'end',
    cell: ({ entry, online }) =>
      entry === null ? NOTHING : text.onlineOf(online, entry.configuration.minimumServiceCount),
  },
  {
    label: text.ram,
    width: 100,
    isNumber: true,
    cell: ({ entry }) => (entry === null ? NOTHING : megabytes(entry.configuration.ramMB)),
  },
  { label: text.runtime, width: 100, cell: ({ entry }) => entry?.configuration.runtime ?? NOTHING },
  { label: text.file, width: 140, grow: 0.4, cell: ({ entry }) => <bdi>{entry?.file ?? NOTHING}</bdi> },
  {
    label: text.note,
    width: 240,
    grow: 3,
    phone: 'second',
    cell: ({ note }) => (
      <bdi class="quiet" title={note}>
        {note}
      </bdi>
    ),
  },
];

export function ConfigurationList() {
  const { session } = useServices();
  const { rows, isLoaded, error, again, git } = useConfigurations();
  return (
    <SearchedList
      text={text}
      rows={rows}
      keyOf={({ name }) => name}
      hrefOf={({ name }) => hrefOf(['configurations', name])}
      isFound={isFound}
      columns={COLUMNS}
      isLoaded={isLoaded}
      emptyHint={session.can('CONFIGURE') ? text.emptyHint : `${text.emptyHint} ${text.emptyRead}`}
      error={error}
      notice={git !== null && <p class="quiet">{text.git(git)}</p>}
      onRetry={again}
      createDialog={(onClose) => <CreateDialog rows={rows} onClose={onClose} />}
    />
  );
}

function isFound({ name, entry, note }: ConfigurationRow, word: string): boolean {
  return [name, entry?.file ?? note, entry?.configuration.command ?? ''].some((part) =>
    part.toLowerCase().includes(word),
  );
}
