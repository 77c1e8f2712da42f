/** The list of all configurations, the worst health first. */
import { megabytes, NOTHING } from '../../parts/amounts.js';
import { type Column, column } from '../../parts/grid/grid.js';
import { SearchedList } from '../../parts/grid/searched-list.js';
import { HealthBadge } from '../../parts/state-badge.js';
import { hrefOf } from '../../router/place.js';
import { useServices } from '../../services/services.js';
import { CreateDialog } from './create.js';
import type { ConfigurationRow } from './rows.js';
import { text } from './text.js';
import { useConfigurations } from './use-configurations.js';

const COLUMNS: readonly Column<ConfigurationRow>[] = [
  column(text.name, 160, ({ name }) => <bdi>{name}</bdi>, { grow: 1, phone: 'first' }),
  column(text.state, 190, ({ health }) => <HealthBadge health={health} />, { phone: 'second' }),
  column(text.online, 110, onlineOf, { isNumber: true, phone: 'end' }),
  column(text.ram, 100, ramOf, { isNumber: true }),
  column(text.runtime, 100, ({ entry }) => entry?.configuration.runtime ?? NOTHING),
  column(text.file, 140, ({ entry }) => <bdi>{entry?.file ?? NOTHING}</bdi>, { grow: 0.4 }),
  column(text.note, 240, noteOf, { grow: 3, phone: 'second' }),
];

function onlineOf({ entry, online }: ConfigurationRow): string {
  return entry === null ? NOTHING : text.onlineOf(online, entry.configuration.minimumServiceCount);
}

function ramOf({ entry }: ConfigurationRow): string {
  return entry === null ? NOTHING : megabytes(entry.configuration.ramMB);
}

function noteOf({ note }: ConfigurationRow) {
  return (
    <bdi class="quiet" title={note}>
      {note}
    </bdi>
  );
}

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
