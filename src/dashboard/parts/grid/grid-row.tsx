/** One row of a grid: an entry with its cells, or the head of a group. On a phone an entry has two lines and an end. */
import type { ComponentChildren } from 'preact';
import { text } from '../text.js';
import type { Column, GridProps, ShownRow } from './grid.js';

interface GridRowProps<T> {
  readonly id: string;
  readonly row: ShownRow;
  readonly index: number;
  readonly startPx: number;
  readonly heightPx: number;
  readonly isActive: boolean;
  readonly isPhone: boolean;
  readonly grid: GridProps<T>;
}

export function GridRow<T>(props: GridRowProps<T>) {
  const { row, grid } = props;
  if (row.kind === 'group') {
    const slots = Array.from({ length: row.group.count }, (_, place) =>
      grid.rows.at(row.group.start + place),
    );
    const keys = slots.flatMap((one) => one?.key ?? []);
    return (
      <RowFrame {...props} extra="grid-group">
        {grid.selection !== undefined && (
          <CheckCell
            label={row.group.name}
            isChecked={keys.every((key) => grid.selection?.keys.has(key) === true)}
            onToggle={() => grid.selection?.onToggleMany(keys)}
          />
        )}
        <div class="grid-cell" role="gridcell">
          <button
            type="button"
            class="grid-sort"
            tabIndex={-1}
            aria-expanded={!row.isClosed}
            onClick={() => grid.onToggleGroup?.(row.group.name)}
          >
            <span aria-hidden="true">{row.isClosed ? '▸' : '▾'}</span> {row.group.name}
          </button>{' '}
          <span class="quiet">
            {grid.aboutGroup?.(slots.flatMap((one) => one?.entry ?? [])) ?? row.group.count}
          </span>
        </div>
      </RowFrame>
    );
  }
  const slot = grid.rows.at(row.place);
  if (slot === undefined) return null;
  const isChosen = grid.selection?.keys.has(slot.key) === true;
  const line = props.isPhone ? null : lineOf(grid, slot.entry);
  return (
    <RowFrame {...props} extra={isChosen ? 'grid-chosen' : ''} isChosen={isChosen}>
      {grid.selection !== undefined && (
        <CheckCell
          label={slot.key}
          isChecked={isChosen}
          onToggle={() => grid.selection?.onToggleMany([slot.key])}
        />
      )}
      {props.isPhone ? (
        <PhoneCells grid={grid} entry={slot.entry} />
      ) : (
        <DeskCells grid={grid} entry={slot.entry} />
      )}
      {line !== null && (
        <div class="cut grid-note" role="gridcell">
          {line}
        </div>
      )}
      {grid.actions !== undefined && !props.isPhone && (
        <div class="grid-actions inline" role="gridcell">
          {grid.actions(slot.entry)}
        </div>
      )}
    </RowFrame>
  );
}

function CheckCell(props: {
  readonly label: string;
  readonly isChecked: boolean;
  readonly onToggle: () => void;
}) {
  return (
    <div class="grid-cell grid-check" role="gridcell">
      <label>
        <input type="checkbox" tabIndex={-1} checked={props.isChecked} onChange={props.onToggle} />
        <span class="hidden-text">{text.selectRow(props.label)}</span>
      </label>
    </div>
  );
}

function RowFrame<T>(
  props: GridRowProps<T> & {
    readonly extra: string;
    readonly isChosen?: boolean;
    readonly children: ComponentChildren;
  },
) {
  return (
    <div
      id={props.id}
      class={`grid-row ${props.extra}${props.isActive ? ' grid-active' : ''}`}
      role="row"
      aria-rowindex={props.index + 2}
      aria-selected={props.isChosen}
      style={{ transform: `translateY(${props.startPx}px)`, height: `${props.heightPx}px` }}
    >
      {props.children}
    </div>
  );
}

interface CellsProps<T> {
  readonly grid: GridProps<T>;
  readonly entry: T;
}

function DeskCells<T>({ grid, entry }: CellsProps<T>) {
  return grid.columns.map((column, place) => (
    <div
      key={column.label}
      class={column.isNumber === true ? 'grid-cell number' : 'grid-cell'}
      role="gridcell"
    >
      {linked(column, entry, place === 0 ? grid.hrefOf?.(entry) : column.linkOf?.(entry))}
    </div>
  ));
}

function PhoneCells<T>({ grid, entry }: CellsProps<T>) {
  const { columns } = grid;
  const parts = (where: Column<T>['phone']): readonly Column<T>[] =>
    columns.filter(({ phone }) => phone === where);
  return (
    <>
      <div class="grid-cell" role="gridcell">
        <div class="grid-line d-flex gap-2">
          {parts('first').map((column) => linked(column, entry, grid.hrefOf?.(entry)))}
        </div>
        <div class="grid-line d-flex gap-2 quiet">
          {lineOf(grid, entry) ??
            parts('second').map((column) => (
              <span key={column.label}>
                {column.isNumber === true && `${column.label} `}
                {column.cell(entry)}
              </span>
            ))}
        </div>
      </div>
      <div class="grid-cell grid-end" role="gridcell">
        {parts('end').map((column) => column.cell(entry))}
      </div>
    </>
  );
}

/** The second line of a row; null: it has none. */
function lineOf<T>({ lineOf: textOf, showLine }: GridProps<T>, entry: T): ComponentChildren {
  const line = textOf?.(entry) ?? '';
  return line === '' ? null : (showLine?.(entry) ?? line);
}

function linked<T>(column: Column<T>, entry: T, href: string | undefined): ComponentChildren {
  if (href === undefined) return column.cell(entry);
  return (
    <a key={column.label} href={href} tabIndex={-1}>
      {column.cell(entry)}
    </a>
  );
}

export function GridHead<T>(props: GridProps<T> & { readonly isPhone: boolean }) {
  const { columns, selection, isPhone } = props;
  return (
    <div class="grid-head" role="row" aria-rowindex={1}>
      {selection !== undefined && (
        <div class="grid-cell grid-check" role="columnheader">
          <label>
            <input type="checkbox" checked={selection.isAll} onChange={selection.onToggleAll} />
            <span class={isPhone ? '' : 'hidden-text'}>{text.selectAll}</span>
          </label>
        </div>
      )}
      {!isPhone && columns.map((column) => <HeadCell key={column.label} column={column} grid={props} />)}
    </div>
  );
}

function HeadCell<T>({ column, grid }: { readonly column: Column<T>; readonly grid: GridProps<T> }) {
  const { sort, onSort } = grid;
  const { label, sortAs } = column;
  const isSorted = sortAs !== undefined && sort?.column === sortAs;
  const direction = sort?.isDescending === true ? 'descending' : 'ascending';
  const style = column.isNumber === true ? 'grid-cell number' : 'grid-cell';
  return (
    <div class={style} role="columnheader" aria-sort={isSorted ? direction : undefined}>
      {sortAs !== undefined && onSort !== undefined ? (
        <button type="button" class="grid-sort" title={text.sortBy(label)} onClick={() => onSort(sortAs)}>
          {label}
          <span aria-hidden="true">{isSorted ? (direction === 'ascending' ? ' ↑' : ' ↓') : ''}</span>
        </button>
      ) : (
        label
      )}
    </div>
  );
}
