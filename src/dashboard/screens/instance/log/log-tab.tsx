/** The log of an instance with its search and its command line. */
import { useEffect, useMemo } from 'preact/hooks';
import type { InstanceInfo } from '../../../../model/instance.js';
import { usePhone } from '../../../parts/use-phone.js';
import { useServices } from '../../../services/services.js';
import { useRuns } from '../runs-panel.js';
import { text } from '../text.js';
import { CommandLine } from './command-line.js';
import './log.css';
import { useSignal } from '@preact/signals';
import { Button, Submit } from '../../../parts/button.js';
import { SearchInput } from '../../../parts/form.js';
import { Menu, type MenuItem } from '../../../parts/menu.js';
import type { LogFeed } from './log-feed.js';
import { LogSearch } from './log-search.js';
import { LogView } from './log-view.js';
import type { Run } from './run-ends.js';
import { SearchResults } from './search-results.js';
import { useLogTools } from './use-log-tools.js';

interface LogTabProps {
  readonly instance: InstanceInfo;
  readonly feed: LogFeed;
  readonly isRunning: boolean;
  /** True when the instance is gone; the loaded lines stay. */
  readonly isOver: boolean;
}

const NO_RUNS: readonly Run[] = [];

export function LogTab({ instance, feed, isRunning, isOver }: LogTabProps) {
  const { id } = instance;
  const runs = useRuns(instance, 0, isOver).value.value?.runs ?? NO_RUNS;
  const { api, session, router, toasts } = useServices();
  const isPhone = usePhone().value;
  const { line: named, ...query } = router.place.value.query;
  const line = lineOf(named);
  const settings = useMemo(() => query, [JSON.stringify(query)]);
  const asked = { pattern: query.find ?? '', hasCapitals: query.capitals === 'yes' };
  const search = useMemo(() => new LogSearch(api, id), [api, id]);
  const isWrapped = query.wrap !== 'no';
  const hasTimes = query.times === undefined ? !isPhone : query.times === 'yes';
  const items = useLogTools({ feed, id, isWrapped, hasTimes, hasCapitals: asked.hasCapitals, isOver });
  const missing = feed.missing.value;
  useEffect(() => {
    if (missing !== null) toasts.failed(new Error(text.log.missing(missing)));
  }, [missing, toasts]);
  const toEnd = (): void => {
    router.set({ line: undefined });
    feed.toEnd();
  };
  /** Goes to the next older (1) or newer (-1) of the lines that were found. */
  const step = (by: 1 | -1): void => {
    const { found } = search.state.value;
    const place = found.findIndex((one) => one.line === line);
    const next = found[place < 0 ? 0 : (place + by + found.length) % found.length];
    if (next !== undefined) router.set({ line: String(next.line) });
  };
  return (
    <div class="log-tab gap-2 min-w-0">
      <LogBar
        feed={feed}
        pattern={asked.pattern}
        isOver={isOver}
        items={items}
        onFollow={toEnd}
        onSearch={(pattern) => {
          // Enter on the same words goes to the next place.
          if (pattern === asked.pattern && pattern !== '') step(1);
          else router.set({ find: pattern || undefined });
        }}
      />
      {asked.pattern !== '' && !isOver && (
        <SearchResults
          search={search}
          asked={asked}
          id={id}
          query={settings}
          line={line}
          onStep={step}
          onClose={() => router.set({ find: undefined })}
        />
      )}
      <LogView
        feed={feed}
        id={id}
        query={settings}
        hasTimes={hasTimes}
        isWrapped={isWrapped}
        line={line}
        runs={runs}
        isOver={isOver || instance.state === 'STOPPED'}
        onToEnd={toEnd}
      />
      {session.can('OPERATE') && !isOver && <CommandLine id={id} isRunning={isRunning} feed={feed} />}
    </div>
  );
}

/** The number of a line in the address; null: the address names none. */
export function lineOf(named: string | undefined): number | null {
  const line = Number(named);
  return named !== undefined && Number.isInteger(line) && line > 0 ? line : null;
}

interface LogBarProps {
  readonly feed: LogFeed;
  readonly pattern: string;
  readonly onSearch: (pattern: string) => void;
  readonly onFollow: () => void;
  /** True when the instance is gone, so that no new lines come. */
  readonly isOver: boolean;
  readonly items: readonly MenuItem[];
}

/** The search, the button that holds the log still, and a menu. */
function LogBar({ feed, pattern, onSearch, onFollow, isOver, items }: LogBarProps) {
  const typed = useSignal(pattern);
  useEffect(() => {
    typed.value = pattern;
  }, [pattern, typed]);
  const isFollowing = feed.isFollowing.value;
  return (
    <div class="inline">
      {!isOver && (
        <form
          class="log-find"
          role="search"
          onSubmit={(event) => {
            event.preventDefault();
            onSearch(typed.value);
          }}
        >
          <SearchInput
            label={text.search.label}
            hint={text.search.placeholder}
            value={typed.value}
            onInput={(words) => {
              typed.value = words;
              if (words === '') onSearch('');
            }}
          />
          <Submit kind="normal">{text.search.submit}</Submit>
        </form>
      )}
      <div class="bar-end">
        {!isOver && (
          <Button onPress={() => (isFollowing ? feed.follow(false) : onFollow())}>
            {isFollowing ? text.log.pause : text.log.follow}
          </Button>
        )}
        <Menu label={text.log.more} items={items} />
      </div>
    </div>
  );
}
