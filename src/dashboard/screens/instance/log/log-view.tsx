/** The scrolling lines of a log. Older lines load when they come into sight, and a button leads to the newest. */
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { Button } from '../../../parts/button.js';
import { Empty, Failure } from '../../../parts/notes.js';
import { text } from '../text.js';
import type { LogFeed } from './log-feed.js';
import { LogRows, RunRules } from './log-rows.js';
import type { LogPage } from './log-window.js';
import { endsBetween, type Run } from './run-ends.js';
import { ScrollKeeper } from './scroll-keeper.js';

interface LogViewProps {
  readonly feed: LogFeed;
  readonly id: string;
  readonly query: Readonly<Record<string, string>>;
  readonly hasTimes: boolean;
  readonly isWrapped: boolean;
  /** The line that the address names. */
  readonly line: number | null;
  /** The past runs, the last one first. */
  readonly runs: readonly Run[];
  /** True when nothing more will be written. */
  readonly isOver: boolean;
  readonly onToEnd: () => void;
}

/** The distance in px to the first or last loaded line at which more lines are loaded. */
const NEAR_PX = 600;

export function LogView({ feed, id, query, hasTimes, isWrapped, line, runs, isOver, onToEnd }: LogViewProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const keeper = useRef<ScrollKeeper | null>(null);
  /** The line to bring into sight once it is loaded. */
  const target = useRef<number | null>(null);
  const version = feed.version.value;
  const isFollowing = feed.isFollowing.value;

  useLayoutEffect(() => {
    if (scroller.current === null || content.current === null) return;
    const kept = new ScrollKeeper(scroller.current);
    keeper.current = kept;
    const sizes = new ResizeObserver(() => kept.restore(feed.isFollowing.peek()));
    sizes.observe(scroller.current);
    sizes.observe(content.current);
    return () => sizes.disconnect();
  }, [feed]);
  useEffect(() => {
    target.current = line;
    if (line !== null) feed.showLine(line);
  }, [feed, line]);
  useLayoutEffect(() => {
    keeper.current?.restore(isFollowing);
    const row = scroller.current?.querySelector(`[data-line="${target.current}"]`);
    if (row === null || row === undefined) return;
    keeper.current?.show(row);
    target.current = null;
  }, [version, isFollowing, hasTimes, isWrapped, line]);

  const loadNear = (): void => {
    const room = keeper.current?.room;
    if (room === undefined || feed.isFollowing.peek()) return;
    if (room.above < NEAR_PX) void feed.older();
    if (room.below < NEAR_PX) void feed.newer();
  };
  useEffect(loadNear, [version, isFollowing]);
  const onScroll = (): void => {
    const move = keeper.current?.read();
    if (move === 'away') feed.follow(false);
    if (move === 'to-end' && feed.window.isAtEnd) feed.follow(true);
    loadNear();
  };
  const { pages, first, last } = feed.window;
  return (
    <div class="log-frame">
      {feed.problem.value !== null && <Failure error={feed.problem.value} onRetry={loadNear} />}
      <section
        ref={scroller}
        class={isWrapped ? 'surface log log-wrapped' : 'surface log'}
        role="log"
        aria-live="off"
        aria-label={text.log.label(id)}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with keys
        tabIndex={0}
        onScroll={onScroll}
        style={{ '--log-digits': `${String(last ?? 0).length}ch` }}
      >
        <div ref={content} class="log-content">
          {first !== null && <Beginning feed={feed} first={first} />}
          {pages.map((page, place) => (
            <LogRows
              key={page.key}
              page={page}
              id={id}
              query={query}
              hasTimes={hasTimes}
              runs={runs}
              before={timeBefore(pages, place)}
              chosen={page.items.some((item) => item.kind === 'line' && item.number === line) ? line : null}
            />
          ))}
          {feed.window.isAtEnd && (
            <RunRules runs={endsBetween(runs, timeBefore(pages, pages.length), null)} />
          )}
          {pages.length === 0 && <NoLines feed={feed} isOver={isOver} />}
        </div>
      </section>
      {!isFollowing && <ToEnd feed={feed} onPress={onToEnd} />}
    </div>
  );
}

/** The time of the last line before a page; null: not known. */
function timeBefore(pages: readonly LogPage[], place: number): string | null {
  const last = pages[place - 1]?.items.findLast((item) => item.kind === 'line');
  return last?.kind === 'line' ? last.time : null;
}

function Beginning({ feed, first }: { readonly feed: LogFeed; readonly first: number }) {
  const kept = feed.firstKept.value;
  if (first > 1 && (kept === null || first > kept))
    return <p class="log-edge quiet">{feed.loading.value === 'older' ? text.log.loadingOlder : ' '}</p>;
  return <p class="log-edge quiet">{first === 1 ? text.log.begins : text.log.notKept(first - 1)}</p>;
}

function NoLines({ feed, isOver }: Pick<LogViewProps, 'feed' | 'isOver'>) {
  if (isOver && feed.loading.value === null && feed.window.node !== null)
    return <Empty title={text.log.none} hint={text.log.noneHint} />;
  if (feed.loading.value !== null || feed.window.node === null)
    return <p class="log-edge quiet">{text.log.waiting}</p>;
  return <Empty title={text.log.empty} hint={text.log.emptyHint} />;
}

function ToEnd({ feed, onPress }: { readonly feed: LogFeed; readonly onPress: () => void }) {
  void feed.version.value;
  const { unseen } = feed;
  return (
    <div class="log-to-end">
      <Button kind={unseen > 0 ? 'main' : 'normal'} onPress={onPress}>
        {unseen > 0 ? text.log.newLines(unseen) : text.log.toEnd}
      </Button>
    </div>
  );
}
