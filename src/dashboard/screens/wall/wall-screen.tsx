/** The live logs of up to 16 instances, side by side or as one log by time. The address says which. */
import { effect, useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { InstanceInfo } from '../../../model/instance.js';
import { FindInput, Select } from '../../parts/form.js';
import { Empty } from '../../parts/notes.js';
import { Page } from '../../parts/page.js';
import { Badge, InstanceBadge } from '../../parts/state-badge.js';
import { text as parts } from '../../parts/text.js';
import { hrefOf } from '../../router/place.js';
import { useEntries, useServices, useTopic } from '../../services/services.js';
import { LogFeed } from '../instance/log/log-feed.js';
import '../instance/log/log.css';
import { LineText, LineTime } from '../instance/log/log-rows.js';
import { LogView } from '../instance/log/log-view.js';
import { type MergedLine, mergedLines } from './merged-lines.js';
import { text } from './text.js';
import './wall.css';

/** How many logs a page follows at once. */
const MOST = 16;
const MOST_LINES = 1000;
const COLOURS = ['ansi-blue', 'tone-good', 'ansi-magenta', 'ansi-cyan', 'tone-busy'];
const NONE: readonly never[] = [];

export function Screen() {
  const { router } = useServices();
  const isLoaded = useTopic('instances').isLoaded.value;
  const present = useEntries('instances');
  const last = useRef<readonly InstanceInfo[]>(NONE);
  const { configuration = '', find = '', view = 'grid' } = router.place.value.query;
  const words = find.toLowerCase().match(/[^\s,]+/g) ?? NONE;
  const isGone = ({ id }: InstanceInfo): boolean => !present.has(id);
  // A removed instance keeps its place while there is room, so that its last lines can be read.
  const all = [...present.values(), ...last.current.filter(isGone)]
    .filter(({ id }) => words.length === 0 || words.some((word) => id.startsWith(word)))
    .filter((one) => configuration === '' || one.configurationName === configuration)
    .sort(
      (a, b) =>
        Number(isGone(a)) - Number(isGone(b)) ||
        a.configurationName.localeCompare(b.configurationName) ||
        a.createdAt - b.createdAt,
    );
  const shown = all.slice(0, MOST);
  last.current = shown;
  const names = [...present.values()].map((one) => one.configurationName).sort();
  return (
    <Page title={text.title} about={text.shown(shown.length, all.length)} fill>
      <div class="bar">
        <Select
          name="configuration"
          label={text.configuration}
          // A configuration of the address may have no instance yet.
          options={[...new Set(['', ...names, configuration])].map((name) => [name, name || text.all])}
        />
        <FindInput label={text.find} hint={text.findHint} />
        <Select name="view" label={text.view} options={Object.entries(text.views)} usual="grid" />
      </div>
      {shown.length === 0 && <Empty title={isLoaded ? text.none : parts.loading} hint={text.noneHint} />}
      {view === 'one' ? (
        <Merged ids={shown.map(({ id }) => id)} />
      ) : (
        <div class="wall-consoles">
          {shown.map((instance) => (
            <Console key={instance.id} instance={instance} isGone={isLoaded && isGone(instance)} />
          ))}
        </div>
      )}
    </Page>
  );
}

/** Follows the logs while the component is shown. A log that stays among `ids` keeps its lines. */
function useFeeds(ids: readonly string[]): readonly { readonly id: string; readonly feed: LogFeed }[] {
  const { api, live } = useServices();
  const started = useRef<ReturnType<typeof useFeeds>>(NONE);
  const feedOf = (id: string): (typeof started.current)[number] =>
    started.current.find((one) => one.id === id) ?? {
      id,
      feed: new LogFeed({ connection: live.connection, api, id }),
    };
  const feeds = useMemo(() => ids.map(feedOf), [ids.join()]);
  const startOnly = (wanted: typeof started.current): void => {
    for (const one of started.current) if (!wanted.includes(one)) one.feed.stop();
    for (const one of wanted) if (!started.current.includes(one)) one.feed.start(null);
    started.current = wanted;
  };
  useEffect(() => startOnly(feeds), [feeds]);
  useEffect(() => () => startOnly(NONE), []);
  return feeds;
}

function Console({ instance, isGone }: { readonly instance: InstanceInfo; readonly isGone: boolean }) {
  const { id, configurationName } = instance;
  const [one] = useFeeds([id]);
  useEffect(() => {
    if (isGone) one?.feed.seal();
  }, [one, isGone]);
  return (
    <section class="log-tab gap-2 min-w-0" aria-label={id}>
      <header class="spread">
        <a class="cut" href={hrefOf(['instances', id])}>
          <bdi>{configurationName}</bdi> <span class="mono">{id}</span>
        </a>
        {isGone ? <Badge tone="still" label={text.removed} /> : <InstanceBadge instance={instance} />}
      </header>
      {one !== undefined && (
        <LogView
          {...one}
          query={NO_SETTINGS}
          hasTimes={false}
          isWrapped
          line={null}
          runs={NONE}
          isOver={isGone || instance.state === 'STOPPED'}
          onToEnd={() => one.feed.toEnd()}
        />
      )}
    </section>
  );
}

const NO_SETTINGS = {};

function Merged({ ids }: { readonly ids: readonly string[] }) {
  const feeds = useFeeds(ids);
  const scroller = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const lines = useSignal<readonly MergedLine[]>(NONE);
  useEffect(() => {
    let frame = 0;
    // Many logs together change often: draw once a frame.
    return effect(() => {
      for (const { feed } of feeds) void feed.version.value;
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => {
        lines.value = mergedLines(feeds, MOST_LINES);
      });
    });
  }, [feeds, lines]);
  useLayoutEffect(() => {
    if (isAtEnd.current) scroller.current?.scrollTo({ top: scroller.current.scrollHeight });
  }, [lines.value]);
  return (
    <section
      ref={scroller}
      class="surface log log-wrapped"
      role="log"
      aria-live="off"
      aria-label={text.merged}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with keys
      tabIndex={0}
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < 24;
      }}
    >
      {lines.value.map(({ id, line }) => (
        <div key={`${id} ${line.number}`} class="log-row">
          <a
            class={`wall-id ${COLOURS[ids.indexOf(id) % COLOURS.length]}`}
            href={hrefOf(['instances', id], { line: String(line.number) })}
            tabIndex={-1}
          >
            {id}
          </a>
          <LineTime time={line.time} />
          <LineText line={line} />
        </div>
      ))}
    </section>
  );
}
