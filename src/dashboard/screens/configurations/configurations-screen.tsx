/** The list of all configurations, or the page of one configuration. */
import type { ScreenProps } from '../screen.js';
import './configurations.css';
import { Empty, Failure } from '../../parts/notes.js';
import { Page, Tabs } from '../../parts/page.js';
import { Badge, HealthBadge } from '../../parts/state-badge.js';
import { hrefOf } from '../../router/place.js';
import { useServices } from '../../services/services.js';
import { Actions } from './actions.js';
import { EditTab } from './edit/edit-tab.js';
import { HistoryTab } from './history-tab.js';
import { ConfigurationList } from './list.js';
import { StateTab } from './state-tab.js';
import { text } from './text.js';
import { useConfigurations } from './use-configurations.js';

export function Screen({ path: [name, tab = 'state'] }: ScreenProps) {
  if (name === undefined) return <ConfigurationList />;
  return <ConfigurationPage key={name} name={name} tab={tab} />;
}

function ConfigurationPage({ name, tab }: { readonly name: string; readonly tab: string }) {
  const { router, session } = useServices();
  const { rows, isLoaded, error, again } = useConfigurations();
  const row = rows.find((one) => one.name === name);
  const isEdit = tab === 'edit';
  const isHistory = tab === 'history' && row?.entry != null;
  const { example, copy } = router.place.value.query;
  const isBegun = isEdit && (example !== undefined || copy !== undefined);
  const title = (
    <>
      <a href={hrefOf(['configurations'])}>{text.title}</a> / <bdi class="mono">{name}</bdi>
    </>
  );
  if (!isLoaded)
    return <Page title={title}>{error !== null && <Failure error={error} onRetry={again} />}</Page>;
  if (row === undefined && !isBegun)
    return (
      <Empty title={text.unknown(name)} hint={text.unknownHint} link={['configurations', text.toList]} />
    );
  const tabs = [
    { id: 'state', label: text.tabState, href: hrefOf(['configurations', name]) },
    { id: 'history', label: text.tabHistory, href: hrefOf(['configurations', name, 'history']) },
    {
      id: 'edit',
      label: session.can('CONFIGURE') ? text.tabEdit : text.tabView,
      href: hrefOf(['configurations', name, 'edit']),
    },
  ];
  return (
    <Page
      title={title}
      about={
        row === undefined ? (
          <Badge tone="busy" label={text.isNew} />
        ) : (
          <>
            <HealthBadge health={row.health} /> {row.frozen && <Badge tone="still" label={text.frozen} />}
          </>
        )
      }
      actions={row?.entry && <Actions entry={row.entry} rows={rows} isFrozen={row.frozen !== undefined} />}
    >
      {error !== null && <Failure error={error} onRetry={again} />}
      {row !== undefined && (
        <Tabs label={text.tabs} tabs={tabs} current={isEdit ? 'edit' : isHistory ? 'history' : 'state'} />
      )}
      {isEdit || row === undefined ? (
        <EditTab name={name} row={row} />
      ) : isHistory ? (
        <HistoryTab name={name} keys={[row.entry?.revision, row.health.text]} />
      ) : (
        <StateTab row={row} />
      )}
    </Page>
  );
}
