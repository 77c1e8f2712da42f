/** All instances in one table. The address holds the settings of the table. */
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { InstanceInfo } from '../../../model/instance.js';
import { Button, ButtonLink } from '../../parts/button.js';
import { DialogButton, FormDialog } from '../../parts/dialog.js';
import { Grid } from '../../parts/grid/grid.js';
import { type Asked, AskedDialog } from '../../parts/instances/asked-dialog.js';
import { instanceColumns, isColumn, Message, messageOf, NAME_COLUMN } from '../../parts/instances/columns.js';
import { NoRows } from '../../parts/notes.js';
import { Page } from '../../parts/page.js';
import { usePhone } from '../../parts/use-phone.js';
import { hrefOf } from '../../router/place.js';
import { useEntries, useOrderedList, useServices, useTopic } from '../../services/services.js';
import { Bulk, FilterBar } from './filter-bar.js';
import './instances.css';
import { Choice } from '../../parts/form.js';
import { PendingActions } from '../../parts/pending-actions.js';
import { text as parts } from '../../parts/text.js';
import { text } from './text.js';
import { orderOf, readView, sortQuery } from './view.js';

const NONE: ReadonlySet<string> = new Set();

export function Screen() {
  const { session, router } = useServices();
  const { query } = router.place.value;
  const isPhone = usePhone().value;
  const view = useMemo(() => readView(query, isPhone), [query, isPhone]);
  const store = useTopic('instances');
  const order = useMemo(
    () => orderOf(view),
    [view.find, view.state, view.groupBy, view.sort, view.isDescending],
  );
  const list = useOrderedList(store, order);
  const pending = useMemo(() => new PendingActions(), []);
  const usage = useEntries('usage');
  const columns = useMemo(() => instanceColumns(pending, usage), [pending, usage]);
  const asked = useSignal<Asked | null>(null);
  const ask = (next: Asked | null): void => {
    asked.value = next;
  };
  const clear = (): void => {
    chosen.value = NONE;
  };
  const chosen = useSignal<ReadonlySet<string>>(NONE);
  const closed = useSignal<ReadonlySet<string>>(NONE);
  // Leave out a selected instance that the filter now hides, so that no action happens unseen.
  const instances = [...chosen.value].flatMap((id) => (list.placeOf(id) < 0 ? [] : (store.get(id) ?? [])));
  const canAct = session.can('OPERATE');
  return (
    <Page
      title={text.title}
      about={text.counted(list.count, store.entries.size)}
      actions={
        canAct && (
          <DialogButton kind="main" dialog={(onClose) => <CreateDialog onClose={onClose} />}>
            {text.create}
          </DialogButton>
        )
      }
      fill
    >
      <FilterBar
        view={view}
        counts={countStates(store.entries.values())}
        onChange={(changes) => router.set(changes)}
      />
      {instances.length > 0 && <Bulk chosen={instances} onAsk={ask} onClear={clear} />}
      {asked.value !== null && (
        <AskedDialog asked={asked.value} pending={pending} onDone={clear} onClose={() => ask(null)} />
      )}
      <Grid<InstanceInfo>
        label={text.title}
        columns={columns.filter(({ id }) => id === NAME_COLUMN || view.columns.includes(id))}
        rows={list}
        hrefOf={({ id }) => hrefOf(['instances', id])}
        sort={{ column: view.sort, isDescending: view.isDescending }}
        onSort={(column) => isColumn(column) && router.set(sortQuery(view, column))}
        isDense={view.isDense}
        lineOf={messageOf}
        showLine={(instance) => <Message instance={instance} />}
        aboutGroup={aboutGroup}
        {...(canAct && {
          actions: (instance: InstanceInfo) => (
            <>
              <ButtonLink href={hrefOf(['instances', instance.id])}>{text.log}</ButtonLink>
              <Button onPress={() => ask({ action: 'restart', instances: [instance] })}>
                {parts.action.restart}
              </Button>
            </>
          ),
        })}
        closed={closed.value}
        onToggleGroup={(name) => {
          closed.value = toggled(closed.value, name);
        }}
        {...(canAct && {
          selection: {
            keys: chosen.value,
            isAll: instances.length > 0 && instances.length === list.count,
            onToggleMany: (keys: readonly string[]) => {
              const isAll = keys.every((key) => chosen.value.has(key));
              const rest = [...chosen.value].filter((key) => !keys.includes(key));
              chosen.value = new Set(isAll ? rest : [...rest, ...keys]);
            },
            onToggleAll: () => {
              chosen.value = instances.length === list.count ? NONE : new Set(list.keys());
            },
          },
        })}
        empty={
          <NoRows
            text={text}
            isLoaded={store.isLoaded.value}
            isFiltered={store.entries.size > 0}
            onClear={() => router.set({ find: undefined, state: undefined })}
            action={<ButtonLink href={hrefOf(['configurations'])}>{text.toConfigurations}</ButtonLink>}
          />
        }
      />
    </Page>
  );
}

function countStates(instances: Iterable<InstanceInfo>): Record<InstanceInfo['state'], number> {
  const counts = { ONLINE: 0, CREATING: 0, OFFLINE: 0, STOPPED: 0 };
  for (const { state } of instances) counts[state]++;
  return counts;
}

function aboutGroup(instances: readonly InstanceInfo[]): string {
  const online = instances.filter(({ state }) => state === 'ONLINE').length;
  const players = instances.reduce((sum, one) => sum + (one.players ?? 0), 0);
  const nodes = new Set(instances.flatMap(({ wrapperNodeId }) => wrapperNodeId ?? []));
  return text.groupAbout(online, instances.length, players, nodes.size);
}

function toggled(names: ReadonlySet<string>, name: string): ReadonlySet<string> {
  const next = new Set(names);
  if (!next.delete(name)) next.add(name);
  return next;
}

/** A dialog that makes one instance of a chosen configuration. */
function CreateDialog({ onClose }: { readonly onClose: () => void }) {
  const { api, router, toasts } = useServices();
  const names = [...useEntries('configurations').keys()].sort();
  const chosen = useSignal(names[0] ?? '');
  // The configurations may arrive after the dialog has opened.
  if (chosen.value === '') chosen.value = names[0] ?? '';
  const create = async (): Promise<void> => {
    const body = { configurationName: chosen.value };
    const { id } = await api.post<InstanceInfo>('/instances', { body });
    toasts.done(text.created(id));
    onClose();
    router.go(['instances', id]);
  };
  return (
    <FormDialog
      title={text.createTitle}
      action={text.create}
      isDisabled={names.length === 0}
      onSubmit={create}
      onClose={onClose}
    >
      <Choice
        label={text.createIn}
        hint={text.createHint}
        value={chosen}
        options={names.map((value) => ({ value, label: value }))}
      />
    </FormDialog>
  );
}
