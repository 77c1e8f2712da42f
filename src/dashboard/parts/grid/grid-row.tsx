/** One row of a grid: an entry with its cells, or the head of a group. On a phone an entry has two lines and an end. */
import type { ComponentChildren } from 'preact';
import { text } from '../text.js';
import type { Column, GridProps } from './grid.js';
import type { GridRow as Row } from './grid-rows.js';

interface GridRowProps<T> {
  readonly id: string;
  readonly row: Row;
  readonly index: number;
  readonly startPx: number;
  readonly isActive: boolean;
  readonly isPhone: boolean;
  readonly grid: GridProps<T>;
}

export function GridRow<T>(props: GridRowProps<T>) {
  const { row, grid } = props;
  if (row.kind === 'group')
    return (
      <RowFrame {...props} extra="grid-group">
        <div class="grid-cell" role="gridcell">
          <button
            type="button"
            class="grid-sort"
            tabIndex={-1}
            aria-expanded={!row.isClosed}
            onClick={() => grid.onToggleGroup?.(row.group.name)}
          >
            <span aria-hidden="true">{row.isClosed ? '▸' : '▾'}</span> {row.group.name}{' '}
            <span class="quiet">{row.group.count}</span>
          </button>
        </div>
      </RowFrame>
    );
  const slot = grid.rows.at(row.place);
  if (slot === undefined) return null;
  const isChosen = grid.selection?.keys.has(slot.key) === true;
  return (
    <RowFrame {...props} extra={isChosen ? 'grid-chosen' : ''} isChosen={isChosen}>
      {grid.selection !== undefined && (
        <div class="grid-cell grid-check" role="gridcell">
          <label>
            <input
              type="checkbox"
              tabIndex={-1}
              checked={isChosen}
              onChange={() => grid.selection?.onToggle(slot.key)}
            />
            <span class="hidden-text">{text.selectRow(slot.key)}</span>
          </label>
        </div>
      )}
      {props.isPhone ? (
        <PhoneCells grid={grid} entry={slot.entry} />
      ) : (
        <DeskCells grid={grid} entry={slot.entry} />
      )}
    </RowFrame>
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
      style={{ transform: `translateY(${props.startPx}px)` }}
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
    <div key={column.id} class={column.isNumber === true ? 'grid-cell number' : 'grid-cell'} role="gridcell">
      {place === 0 ? linked(grid, entry, column) : column.cell(entry)}
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
        <div class="grid-line">{parts('first').map((column) => linked(grid, entry, column))}</div>
        <div class="grid-line quiet">
          {parts('second').map((column) => (
            <span key={column.id}>
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

function linked<T>({ hrefOf }: GridProps<T>, entry: T, column: Column<T>): ComponentChildren {
  if (hrefOf === undefined) return column.cell(entry);
  return (
    <a key={column.id} href={hrefOf(entry)} tabIndex={-1}>
      {column.cell(entry)}
    </a>
  );
}
