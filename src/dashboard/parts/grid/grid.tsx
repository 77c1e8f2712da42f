/**
 * A table of any length: only rows in sight are in the page. The screen keeps sort, groups and selection. The table is
 * one Tab stop: arrow keys move between rows, Enter opens a row, Space selects it.
 */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';
import type { Group } from '../../live/ordered-list.js';
import { usePhone } from '../use-phone.js';
import { GridHead, GridRow } from './grid-row.js';
import { useVirtualRows } from './use-virtual-rows.js';

export interface Column<T> {
  /** The name of the column, unique in its table. */
  readonly label: string;
  /** The least width, in px. */
  readonly width: number;
  /** The column's share of the width that is left; default 0. */
  readonly grow?: number;
  readonly isNumber?: boolean;
  /** The name that `onSort` gets; undefined: the table is not sorted by this column. */
  readonly sortAs?: string;
  /**
   * The place of the cell on a phone, which shows only columns with such a place. A number in the second line has its
   * label before it.
   */
  readonly phone?: 'first' | 'second' | 'end';
  readonly cell: (entry: T) => ComponentChildren;
  /** The address that the cell leads to; the first column of a row has `hrefOf` of the table. */
  readonly linkOf?: (entry: T) => string | undefined;
}

/** Makes a column of these least px. */
export function column<T>(
  label: string,
  width: number,
  cell: Column<T>['cell'],
  rest: Partial<Column<T>> = {},
): Column<T> {
  return { label, width, cell, ...rest };
}

/** The rows as `OrderedList` offers them; `listRows` wraps a plain list. */
interface RowSource<T> {
  readonly count: number;
  at(place: number): { readonly key: string; readonly entry: T } | undefined;
  groups(): readonly Group[];
}

interface GridSelection {
  readonly keys: ReadonlySet<string>;
  /** Selects all of these rows, or none of them when all are selected. */
  readonly onToggleMany: (keys: readonly string[]) => void;
  /** Selects all rows that the filter lets through, or no row. */
  readonly onToggleAll: () => void;
  readonly isAll: boolean;
}

export interface GridProps<T> {
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly rows: RowSource<T>;
  /** The address that the first column of a row leads to. */
  readonly hrefOf?: (entry: T) => string;
  readonly sort?: { readonly column: string; readonly isDescending: boolean };
  readonly onSort?: (column: string) => void;
  readonly selection?: GridSelection;
  readonly closed?: ReadonlySet<string>;
  readonly onToggleGroup?: (name: string) => void;
  /** The second line of a row, such as a message; '': the row has one line. */
  readonly lineOf?: (entry: T) => string;
  /** The second line as it is shown, where it changes as time passes. Absent: as the text is. */
  readonly showLine?: (entry: T) => ComponentChildren;
  /** Buttons at the end of the row under the pointer. */
  readonly actions?: (entry: T) => ComponentChildren;
  /** Words about a group, beside its name. */
  readonly aboutGroup?: (entries: readonly T[]) => ComponentChildren;
  readonly isDense?: boolean;
  /** Shown in place of rows when there are none. */
  readonly empty: ComponentChildren;
}

const ROW_PX = 38;
const DENSE_ROW_PX = 30;
const PHONE_ROW_PX = 60;
const LINE_PX = 22;
const HEAD_PX = 36;
const CHECK_PX = 40;
const PAGE_ROWS = 15;
const NONE: ReadonlySet<string> = new Set();

export function Grid<T>(props: GridProps<T>) {
  const { label, columns, rows, selection, empty, closed = NONE } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const isPhone = usePhone().value;
  const id = useId();
  const active = useSignal<number | null>(null);
  const plan = new GridRows(rows.count, rows.groups(), closed);
  const least = isPhone ? PHONE_ROW_PX : props.isDense === true ? DENSE_ROW_PX : ROW_PX;
  const heightOf = (place: number): number => {
    const entry = isPhone ? undefined : rows.at(place)?.entry;
    return entry !== undefined && (props.lineOf?.(entry) ?? '') !== '' ? least + LINE_PX : least;
  };
  const rowPx = (row: number): number => {
    const shown = plan.at(row);
    return shown.kind === 'group' ? least : heightOf(shown.place);
  };
  // Another height of any row gives another shape, so that the rows are measured again.
  let shape = least;
  if (props.lineOf !== undefined)
    for (let place = 0; place < rows.count; place++) shape = (shape * 31 + heightOf(place)) | 0;
  const virtual = useVirtualRows({ count: plan.count, rowPx, shape, headPx: HEAD_PX, scroller });
  const activate = (row: number): void => {
    active.value = Math.max(0, Math.min(plan.count - 1, row));
    virtual.scrollTo(active.value);
  };
  const act = (row: number, kind: 'open' | 'select'): void => {
    const shown = plan.at(row);
    if (shown.kind === 'group') {
      props.onToggleGroup?.(shown.group.name);
      return;
    }
    const slot = rows.at(shown.place);
    if (slot === undefined) return;
    if (kind === 'select') selection?.onToggleMany([slot.key]);
    else if (props.hrefOf !== undefined) location.hash = props.hrefOf(slot.entry);
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.target !== scroller.current || event.ctrlKey || event.metaKey || event.altKey) return;
    const row = active.value ?? -1;
    const target = targetOf(event.key, row, plan.count);
    if (target !== undefined) activate(target);
    else if (row >= 0 && event.key === 'Enter') act(row, 'open');
    else if (row >= 0 && event.key === ' ') act(row, 'select');
    else return;
    event.preventDefault();
  };
  const style = trackStyle(columns, isPhone, selection !== undefined, least);
  return (
    <div
      ref={scroller}
      class={isPhone ? 'surface grid grid-phone' : 'surface grid'}
      role="grid"
      aria-label={label}
      aria-rowcount={plan.count + 1}
      aria-activedescendant={active.value === null ? undefined : `${id}-${active.value}`}
      tabIndex={0}
      style={style}
      onKeyDown={onKey}
      onFocus={(event) => {
        if (event.target === scroller.current && active.value === null && plan.count > 0) active.value = 0;
      }}
    >
      {(!isPhone || selection !== undefined) && <GridHead {...props} isPhone={isPhone} />}
      {plan.count === 0 ? (
        <div class="grid-empty" role="row">
          <div role="gridcell">{empty}</div>
        </div>
      ) : (
        <div class="grid-body" role="rowgroup" style={{ height: `${virtual.heightPx}px` }}>
          {virtual.items.map(({ index, start, size, key }) => (
            <GridRow
              key={key}
              id={`${id}-${index}`}
              row={plan.at(index)}
              index={index}
              startPx={start}
              heightPx={size}
              isActive={index === active.value}
              isPhone={isPhone}
              grid={props}
            />
          ))}
        </div>
      )}
    </div>
  );
}

/**
 * The column widths of all rows. They do not depend on the content. The grid scrolls sideways when the columns do
 * not fit.
 */
function trackStyle<T>(
  columns: readonly Column<T>[],
  isPhone: boolean,
  canSelect: boolean,
  rowPx: number,
): Record<string, string> {
  const tracks = isPhone
    ? ['minmax(0, 1fr)', 'auto']
    : columns.map(({ width, grow = 0 }) => (grow === 0 ? `${width}px` : `minmax(${width}px, ${grow}fr)`));
  const least = isPhone ? 0 : columns.reduce((sum, { width }) => sum + width, canSelect ? CHECK_PX : 0);
  return {
    '--tracks': [...(canSelect ? [`${CHECK_PX}px`] : []), ...tracks].join(' '),
    '--least': `${least}px`,
    '--row': `${rowPx}px`,
    '--check': canSelect ? `${CHECK_PX}px` : '0px',
  };
}

function targetOf(key: string, row: number, count: number): number | undefined {
  const pages = { PageDown: row + PAGE_ROWS, PageUp: row - PAGE_ROWS };
  const lines = { ArrowDown: row + 1, ArrowUp: row - 1, Home: 0, End: count - 1 };
  return count === 0 ? undefined : new Map(Object.entries({ ...pages, ...lines })).get(key);
}

export type ShownRow =
  | { readonly kind: 'group'; readonly group: Group; readonly isClosed: boolean }
  /** `place`: the entry's place in the list. */
  | { readonly kind: 'entry'; readonly place: number };

class GridRows {
  readonly count: number;
  readonly #heads: readonly { readonly row: number; readonly group: Group; readonly isClosed: boolean }[];

  constructor(entries: number, groups: readonly Group[], closed: ReadonlySet<string>) {
    let row = 0;
    this.#heads = groups.map((group) => {
      const isClosed = closed.has(group.name);
      const head = { row, group, isClosed };
      row += 1 + (isClosed ? 0 : group.count);
      return head;
    });
    this.count = groups.length === 0 ? entries : row;
  }

  at(row: number): ShownRow {
    let low = 0;
    for (let high = this.#heads.length; low < high; ) {
      const middle = (low + high) >> 1;
      if ((this.#heads[middle]?.row ?? 0) <= row) low = middle + 1;
      else high = middle;
    }
    const head = this.#heads[low - 1];
    if (head === undefined) return { kind: 'entry', place: row };
    if (head.row === row) return { kind: 'group', group: head.group, isClosed: head.isClosed };
    return { kind: 'entry', place: head.group.start + row - head.row - 1 };
  }
}

/** Makes the rows of a grid from a plain list, in the order of the list. */
export function listRows<T>(entries: readonly T[], keyOf: (entry: T) => string): RowSource<T> {
  return {
    count: entries.length,
    at: (place) => {
      const entry = entries[place];
      return entry === undefined ? undefined : { key: keyOf(entry), entry };
    },
    groups: () => [],
  };
}
