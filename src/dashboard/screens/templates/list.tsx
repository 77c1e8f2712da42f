/** All templates, with the configurations that use them. */
import { useSignal } from '@preact/signals';
import type { Topics } from '../../live/messages.js';
import { Button } from '../../parts/button.js';
import { Empty } from '../../parts/empty.js';
import { type Column, Grid } from '../../parts/grid/grid.js';
import { listRows } from '../../parts/grid/list-rows.js';
import { Page } from '../../parts/page.js';
import { hrefOf } from '../../router/place.js';
import { useServices } from '../../services/services.js';
import { useEntries, useTopic } from '../../services/use-live.js';
import { NewFileDialog } from './new-file.js';
import { text } from './text.js';
import { usersOf } from './tree.js';

interface Row {
  readonly key: string;
  readonly entry: Topics['templates'];
  readonly users: readonly string[];
}

const COLUMNS: readonly Column<Row>[] = [
  {
    id: 'name',
    label: text.name,
    width: 200,
    grow: 1,
    phone: 'first',
    cell: ({ key }) => <bdi>{key}</bdi>,
  },
  {
    id: 'users',
    label: text.users,
    width: 200,
    grow: 2,
    phone: 'second',
    cell: ({ users }) =>
      users.length === 0 ? <span class="quiet">{text.unused}</span> : <bdi>{users.join(', ')}</bdi>,
  },
  { id: 'storage', label: text.storage, width: 140, phone: 'end', cell: ({ entry }) => entry.storage },
];

export function TemplateList() {
  const { session, router } = useServices();
  const templates = useEntries('templates');
  const configurations = [...useEntries('configurations').values()].map((one) => one.configuration);
  const isLoaded = useTopic('templates').isLoaded.value;
  const isCreating = useSignal(false);
  const { find = '' } = router.place.value.query;
  const rows = [...templates]
    .filter(([key]) => key.toLowerCase().includes(find.toLowerCase()))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, entry]) => ({ key, entry, users: usersOf(entry, configurations) }));
  const create = session.can('ALL') && (
    <Button
      kind="main"
      onPress={() => {
        isCreating.value = true;
      }}
    >
      {text.create}
    </Button>
  );
  return (
    <Page
      title={text.title}
      about={isLoaded && text.counted(rows.length, templates.size)}
      actions={create}
      fill
    >
      {templates.size > 0 && (
        <input
          class="input templates-find"
          type="search"
          aria-label={text.search}
          placeholder={text.searchHint}
          value={find}
          onInput={(event) => router.set({ find: event.currentTarget.value || undefined })}
        />
      )}
      <Grid
        label={text.title}
        columns={COLUMNS}
        rows={listRows(rows, ({ key }) => key)}
        hrefOf={({ entry: { group, name } }) => hrefOf(['templates', group, name])}
        empty={
          !isLoaded ? (
            <Empty title={text.loading} />
          ) : templates.size > 0 ? (
            <Empty
              title={text.noneFound}
              action={<Button onPress={() => router.set({ find: undefined })}>{text.clearFilter}</Button>}
            />
          ) : (
            <Empty title={text.empty} hint={text.emptyHint} action={create} />
          )
        }
      />
      {isCreating.value && (
        <NewFileDialog
          onClose={() => {
            isCreating.value = false;
          }}
        />
      )}
    </Page>
  );
}
