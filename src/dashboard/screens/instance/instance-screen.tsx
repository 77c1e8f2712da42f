/** One instance: its log with a command line, its usage, why it is in its state, its runs, details and terminal. */
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { InstanceLog } from '../../../api/routes/instances/log-routes.js';
import type { InstanceInfo } from '../../../model/instance.js';
import { apiPath, ifThere } from '../../api/api-client.js';
import { addressOf, cores, megabytes } from '../../parts/amounts.js';
import { ButtonLink } from '../../parts/button.js';
import { CopyValue } from '../../parts/copy-button.js';
import { Message } from '../../parts/instances/columns.js';
import { Empty, Failure } from '../../parts/notes.js';
import { Page, Tabs } from '../../parts/page.js';
import { PendingActions } from '../../parts/pending-actions.js';
import { InstanceBadge } from '../../parts/state-badge.js';
import { Up } from '../../parts/time.js';
import { type Measure, UsageCharts } from '../../parts/usage/usage-charts.js';
import { useMedia } from '../../parts/use-phone.js';
import { hrefOf } from '../../router/place.js';
import { useAsked, useServices, useTopic } from '../../services/services.js';
import type { ScreenProps } from '../screen.js';
import { Actions } from './actions.js';
import { DetailsPanel } from './details-panel.js';
import './instance.css';
import { LogFeed } from './log/log-feed.js';
import { LogTab, lineOf } from './log/log-tab.js';
import { RunsPanel } from './runs-panel.js';
import { TerminalTab } from './terminal/terminal-tab.js';
import { text } from './text.js';
import { InstanceWhy } from './why-panel.js';

type TabName = Exclude<keyof typeof text.tabs, 'label'>;

const TABS: readonly TabName[] = ['log', 'usage', 'why', 'runs', 'details', 'terminal'];
/** The tabs that fill the window and scroll inside. */
const FILLING: readonly TabName[] = ['log', 'terminal'];
/** A window this wide has room for charts beside the log. */
const WIDE = '(min-width: 1180px)';

export function Screen({ path: [id = ''] }: ScreenProps) {
  return <InstanceScreen key={id} id={id} />;
}

function InstanceScreen({ id }: { readonly id: string }) {
  const store = useTopic('instances');
  void store.version.value;
  const present = store.get(id);
  /** The instance as it was last seen. The screen still shows it after its removal. */
  const seen = useRef<InstanceInfo | undefined>(undefined);
  seen.current = present ?? seen.current;
  const instance = seen.current;
  const isGone = present === undefined && store.isLoaded.value;
  const feed = useLogFeed(id, instance !== undefined, isGone);
  if (instance !== undefined)
    return isGone ? <Left instance={instance} feed={feed} /> : <Shown instance={instance} feed={feed} />;
  if (!isGone) return <p class="screen quiet">{text.loading}</p>;
  return <Removed id={id} />;
}

/** An instance that was removed before this page saw it: its node keeps the log for a while. */
function Removed({ id }: { readonly id: string }) {
  const asked = useAsked(
    (api, signal) =>
      ifThere(
        api.get<InstanceLog>(apiPath('instances', id, 'logs'), {
          signal,
          query: { lines: 1000, removed: 'true' },
        }),
      ),
    [id],
  );
  const { value: log, error } = asked.value;
  if (error !== null) return <Failure error={error} onRetry={asked.again} />;
  if (log === undefined) return <p class="screen quiet">{text.loading}</p>;
  if (log === null)
    return <Empty title={text.gone(id)} hint={text.goneHint} link={['instances', text.toList]} />;
  return (
    <Page title={<span class="mono">{id}</span>} fill>
      <RemovedBanner id={id}>{text.removedLog}</RemovedBanner>
      <pre class="output shown-once">{log.lines.join('\n')}</pre>
    </Page>
  );
}

/** The log is followed on all tabs, so that a return to the log loses nothing. */
function useLogFeed(id: string, isKnown: boolean, isGone: boolean): LogFeed {
  const { api, live, router } = useServices();
  const feed = useMemo(() => new LogFeed({ connection: live.connection, api, id }), []);
  useEffect(() => {
    if (!isKnown) return;
    feed.start(lineOf(router.place.peek().query.line));
    return () => feed.stop();
  }, [feed, isKnown]);
  useEffect(() => {
    if (isGone && isKnown) feed.seal();
  }, [feed, isGone, isKnown]);
  return feed;
}

/** Shown when the instance was removed while the operator looked at it. */
function Left({ instance, feed }: { readonly instance: InstanceInfo; readonly feed: LogFeed }) {
  const { id, wrapperNodeId } = instance;
  return (
    <Page title={<Trail instance={instance} />} fill>
      <RemovedBanner id={id}>{text.leftLog(id, wrapperNodeId)}</RemovedBanner>
      <LogTab instance={instance} feed={feed} isRunning={false} isOver />
    </Page>
  );
}

function RemovedBanner({ id, children }: { readonly id: string; readonly children: string }) {
  return (
    <div class="notice" role="status">
      <div>
        <strong>{text.left(id)}</strong>
        <p>{children}</p>
      </div>
      <ButtonLink href={hrefOf(['instances'])}>{text.toList}</ButtonLink>
    </div>
  );
}

function Shown({ instance, feed }: { readonly instance: InstanceInfo; readonly feed: LogFeed }) {
  const { session, router } = useServices();
  const pending = useMemo(() => new PendingActions(), []);
  const canOperate = session.can('OPERATE');
  const tabs = TABS.filter((name) => name !== 'terminal' || canOperate);
  const tab = tabs.find((name) => name === router.place.value.query.tab) ?? 'log';
  const { id, message, wrapperNodeId, allocatedPort, startedAt } = instance;
  const hrefOfTab = (name: TabName): string =>
    hrefOf(['instances', id], { tab: name === 'log' ? undefined : name });
  return (
    <Page
      title={<Trail instance={instance} />}
      about={
        <span class="inline instance-about">
          <InstanceBadge instance={instance} pending={pending} />
          {wrapperNodeId !== undefined && <a href={hrefOf(['nodes', wrapperNodeId])}>{wrapperNodeId}</a>}
          {allocatedPort !== undefined && <CopyValue value={addressOf(instance)} />}
          {startedAt !== null && (
            <span>
              {text.up} <Up since={startedAt} />
            </span>
          )}
        </span>
      }
      actions={canOperate && <Actions instance={instance} pending={pending} />}
      fill={FILLING.includes(tab)}
    >
      {message !== null && (
        <p class="notice">
          <Message instance={instance} /> {tab !== 'why' && <a href={hrefOfTab('why')}>{text.whyLink}</a>}
        </p>
      )}
      <Tabs
        label={text.tabs.label}
        tabs={tabs.map((name) => ({ id: name, label: text.tabs[name], href: hrefOfTab(name) }))}
        current={tab}
      />
      <Content tab={tab} instance={instance} feed={feed} />
    </Page>
  );
}

/** The way here: all instances, those of the configuration, this one. */
function Trail({ instance: { id, configurationName } }: { readonly instance: InstanceInfo }) {
  return (
    <>
      <a href={hrefOf(['instances'])}>{text.all}</a> /{' '}
      <a href={hrefOf(['configurations', configurationName])}>
        <bdi>{configurationName}</bdi>
      </a>{' '}
      / <span class="mono">{id}</span>
    </>
  );
}

function Content(props: { readonly tab: TabName; readonly instance: InstanceInfo; readonly feed: LogFeed }) {
  const { tab, instance, feed } = props;
  const isWide = useMedia(WIDE).value;
  const { id, state } = instance;
  const isRunning = state === 'ONLINE' || state === 'CREATING';
  const aboutOf = (measure: Measure): string => shareOf(instance, measure);
  switch (tab) {
    case 'log':
      return (
        <div class="instance-body d-flex flex-1 gap-4">
          <LogTab instance={instance} feed={feed} isRunning={isRunning} isOver={false} />
          {isWide && (
            <aside class="instance-side" aria-label={text.usage.title}>
              <UsageCharts of={{ instance: id }} isNarrow about={aboutOf} />
            </aside>
          )}
        </div>
      );
    case 'usage':
      return <UsageCharts of={{ instance: id }} about={aboutOf} />;
    case 'why':
      return <InstanceWhy instance={instance} />;
    case 'runs':
      return <RunsPanel instance={instance} />;
    case 'details':
      return <DetailsPanel instance={instance} />;
    case 'terminal':
      return <TerminalTab id={id} isRunning={isRunning} />;
  }
}

/** The whole that a measured value is a share of. */
function shareOf(instance: InstanceInfo, measure: Measure): string {
  const { allocatedCpu, allocatedRamMB, maxPlayers } = instance;
  switch (measure) {
    case 'cpuPercent':
      return allocatedCpu > 0 ? text.usage.ofReserved(cores(allocatedCpu)) : text.usage.oneCore;
    case 'memoryBytes':
      return text.usage.ofReserved(megabytes(allocatedRamMB));
    case 'players':
      return maxPlayers === null ? '' : text.usage.ofPlayers(maxPlayers);
  }
}
