/**
 * The rows of one page of a log. The browser lays out only pages in sight, and an unchanged page is not rendered again.
 */
import { useSignal } from '@preact/signals';
import { Component } from 'preact';
import { Button } from '../../../parts/button.js';
import { exactTime } from '../../../parts/time.js';
import { hrefOf } from '../../../router/place.js';
import { text } from '../text.js';
import { spansOf } from './ansi.js';
import type { LogItem, LogLine, LogPage } from './log-window.js';

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
}

export class LogRows extends Component<LogRowsProps> {
  override shouldComponentUpdate(next: LogRowsProps): boolean {
    const { page, hasTimes, chosen, id, query } = this.props;
    return (
      next.page !== page ||
      next.hasTimes !== hasTimes ||
      next.chosen !== chosen ||
      next.id !== id ||
      next.query !== query
    );
  }

  override render({ page, id, query, hasTimes, chosen }: LogRowsProps) {
    return (
      <div class="log-page" style={{ 'contain-intrinsic-height': `auto ${page.items.length * ROW_PX}px` }}>
        {page.items.map((item) => (
          <Row
            key={item.key}
            item={item}
            hasTimes={hasTimes}
            isChosen={item.kind === 'line' && item.number === chosen}
            href={item.kind === 'line' ? hrefOf(['instances', id], { ...query, line: `${item.number}` }) : ''}
          />
        ))}
      </div>
    );
  }
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

function LineTime({ time }: { readonly time: string | null }) {
  if (time === null) return <span class="log-time">–</span>;
  const at = new Date(time);
  return (
    <span class="log-time" title={exactTime(at.getTime())}>
      {at.toTimeString().slice(0, 8)}
    </span>
  );
}

function LineText({ line }: { readonly line: LogLine }) {
  const isWhole = useSignal(false);
  const isLong = line.text.length > MOST_CHARACTERS && !isWhole.value;
  const spans = spansOf(isLong ? line.text.slice(0, MOST_CHARACTERS) : line.text);
  return (
    <span class="log-text">
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
        <Button
          kind="quiet"
          onPress={() => {
            isWhole.value = true;
          }}
        >
          {text.log.showAll(line.text.length)}
        </Button>
      )}
    </span>
  );
}
