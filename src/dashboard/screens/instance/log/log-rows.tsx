/**
 * The rows of one page of a log. The browser lays out only pages in sight, and an unchanged page is not rendered again.
 */
import { useSignal } from '@preact/signals';
import { Component, Fragment } from 'preact';
import { Button, putting } from '../../../parts/button.js';
import { clockTime, exactTime } from '../../../parts/times.js';
import { hrefOf } from '../../../router/place.js';
import { text } from '../text.js';
import { spansOf } from './ansi.js';
import type { LogItem, LogLine, LogPage } from './log-window.js';
import { endsBetween, isGoodEnd, type Run, ruleOf } from './run-ends.js';

/** The most characters of a line that are shown at once. A megabyte in one line takes seconds to lay out. */
const MOST_CHARACTERS = 4_000;
/** The height of a row that is not wrapped; the styles have the same. */
const ROW_PX = 20;

interface LogRowsProps {
  readonly page: LogPage;
  readonly id: string;
  /** The settings of the screen that a link to a line keeps. */
  readonly query: Readonly<Record<string, string>>;
  readonly hasTimes: boolean;
  /** The line that the address names; null: it is not on this page. */
  readonly chosen: number | null;
  readonly runs: Runs;
  /** The time of the last line before this page; null: there is none, or it is not known. */
  readonly before: string | null;
}

type Runs = readonly Run[];

export class LogRows extends Component<LogRowsProps> {
  override shouldComponentUpdate(next: LogRowsProps): boolean {
    const before = new Map<string, unknown>(Object.entries(this.props));
    return Object.entries(next).some(([name, value]) => before.get(name) !== value);
  }

  override render({ page, id, query, hasTimes, chosen, runs, before }: LogRowsProps) {
    let last = before;
    const rulesBefore = (item: LogItem) => {
      if (item.kind === 'note' || item.time === null) return null;
      const from = last;
      last = item.time;
      return <RunRules runs={endsBetween(runs, from, item.time)} />;
    };
    return (
      <div class="log-page" style={{ 'contain-intrinsic-height': `auto ${page.items.length * ROW_PX}px` }}>
        {page.items.map((item) => (
          <Fragment key={item.key}>
            {rulesBefore(item)}
            <Row
              item={item}
              hasTimes={hasTimes}
              isChosen={item.kind === 'line' && item.number === chosen}
              href={
                item.kind === 'line' ? hrefOf(['instances', id], { ...query, line: `${item.number}` }) : ''
              }
            />
          </Fragment>
        ))}
      </div>
    );
  }
}

/** A rule for each run that ended here. */
export function RunRules({ runs }: { readonly runs: Runs }) {
  return (
    <>
      {runs.map((run) => (
        <p
          key={run.run}
          class={`log-rule d-flex items-center gap-3 tone-${isGoodEnd(run) ? 'still' : 'bad'}`}
        >
          {ruleOf(run)}
        </p>
      ))}
    </>
  );
}

interface RowProps {
  readonly item: LogItem;
  readonly hasTimes: boolean;
  readonly isChosen: boolean;
  readonly href: string;
}

function Row({ item, hasTimes, isChosen, href }: RowProps) {
  if (item.kind === 'note') return <div class={`log-row log-note log-note-${item.from}`}>{item.text}</div>;
  return (
    <div class={isChosen ? 'log-row log-chosen' : 'log-row'} data-line={item.number}>
      {/** The styles keep number and time out of selections, so that a selection copies the lines alone. */}
      <a class="log-number" href={href} tabIndex={-1} title={text.log.line(item.number)}>
        {item.number}
      </a>
      {hasTimes && <LineTime time={item.time} />}
      <LineText line={item} />
    </div>
  );
}

export function LineTime({ time }: { readonly time: string | null }) {
  if (time === null) return <span class="log-time">–</span>;
  const at = Date.parse(time);
  return (
    <span class="log-time" title={exactTime(at)}>
      {clockTime(at)}
    </span>
  );
}

const BAD_LEVEL = /\b(?:FATAL|ERROR|SEVERE|CRITICAL|PANIC)\b|\blevel=(?:error|fatal)\b/;
const WARN_LEVEL = /\bWARN(?:ING)?\b|\blevel=warn/;
/** A level stands at the beginning of a line. */
const LEVEL_CHARACTERS = 120;

/** The class of the level that a line names; '': it names none. */
function levelOf(line: string): string {
  const start = line.slice(0, LEVEL_CHARACTERS);
  return BAD_LEVEL.test(start) ? 'tone-bad' : WARN_LEVEL.test(start) ? 'tone-busy' : '';
}

export function LineText({ line }: { readonly line: LogLine }) {
  const isWhole = useSignal(false);
  const isLong = line.text.length > MOST_CHARACTERS && !isWhole.value;
  const spans = spansOf(isLong ? line.text.slice(0, MOST_CHARACTERS) : line.text);
  // A line with colours of its own keeps them.
  const level = spans.every(({ classes }) => classes === '') ? levelOf(line.text) : '';
  return (
    <span class={`log-text flex-1 min-w-0 ${level}`}>
      {spans.map(({ text: piece, classes }, place) =>
        classes === '' ? (
          piece
        ) : (
          <span key={place} class={classes}>
            {piece}
          </span>
        ),
      )}
      {isLong && (
        <Button kind="quiet" onPress={putting(isWhole, true)}>
          {text.log.showAll(line.text.length)}
        </Button>
      )}
    </span>
  );
}
