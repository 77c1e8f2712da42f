/** All templates, with the configurations that use them. */
import type { Topics } from '../../../watch-client/topics.js';
import { type Column, column } from '../../parts/grid/grid.js';
import { SearchedList } from '../../parts/grid/searched-list.js';
import { hrefOf } from '../../router/place.js';
import { useEntries, useTopic } from '../../services/services.js';
import { NewFileDialog } from './new-file.js';
import { text } from './text.js';
import { usersOf } from './tree.js';

interface Row {
  readonly key: string;
  readonly entry: Topics['templates'];
  readonly users: readonly string[];
}

const COLUMNS: readonly Column<Row>[] = [
  column(text.name, 200, ({ key }) => <bdi>{key}</bdi>, { grow: 1, phone: 'first' }),
  column(text.users, 200, namesOf, { grow: 2, phone: 'second' }),
  column(text.storage, 140, ({ entry }) => entry.storage, { phone: 'end' }),
];

function namesOf({ users }: Row) {
  return users.length === 0 ? <span class="quiet">{text.unused}</span> : <bdi>{users.join(', ')}</bdi>;
}

export function TemplateList() {
  const templates = useEntries('templates');
  const configurations = [...useEntries('configurations').values()].map((one) => one.configuration);
  const rows = [...templates]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, entry]) => ({ key, entry, users: usersOf(entry, configurations) }));
  return (
    <SearchedList
      text={text}
      rows={rows}
      keyOf={({ key }) => key}
      hrefOf={({ entry: { group, name } }) => hrefOf(['templates', group, name])}
      isFound={({ key }, word) => key.toLowerCase().includes(word)}
      columns={COLUMNS}
      isLoaded={useTopic('templates').isLoaded.value}
      emptyHint={text.emptyHint}
      createDialog={(onClose) => <NewFileDialog onClose={onClose} />}
    />
  );
}
