/** The head of a grid: the names of the columns, the buttons that sort, and the box that selects all. */

import { text } from '../text.js';
import type { Column, GridProps } from './grid.js';

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
      {!isPhone && columns.map((column) => <HeadCell key={column.id} column={column} grid={props} />)}
    </div>
  );
}

function HeadCell<T>({ column, grid }: { readonly column: Column<T>; readonly grid: GridProps<T> }) {
  const { sort, onSort } = grid;
  const isSorted = sort?.column === column.id;
  const direction = sort?.isDescending === true ? 'descending' : 'ascending';
  const style = column.isNumber === true ? 'grid-cell number' : 'grid-cell';
  return (
    <div class={style} role="columnheader" aria-sort={isSorted ? direction : undefined}>
      {column.isSortable === true && onSort !== undefined ? (
        <button
          type="button"
          class="grid-sort"
          title={text.sortBy(column.label)}
          onClick={() => onSort(column.id)}
        >
          {column.label}
          <span aria-hidden="true">{isSorted ? (direction === 'ascending' ? ' ↑' : ' ↓') : ''}</span>
        </button>
      ) : (
        column.label
      )}
    </div>
  );
}
