/** A short table whose rows may have buttons. On a phone each row is a card. For thousands of rows use the grid. */
import type { ComponentChildren } from 'preact';
import type { Asking } from '../../services/services.js';
import { Failure } from '../notes.js';
import './table.css';

export interface TableColumn<T> {
  readonly label: string;
  /** The CSS class of its cells. */
  readonly class?: string;
  readonly cell: (entry: T) => ComponentChildren;
}

interface TableProps<T> {
  readonly label: string;
  readonly columns: readonly TableColumn<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (entry: T) => string;
  /** Buttons at the end of a row. */
  readonly actions?: ((entry: T) => ComponentChildren) | undefined;
}

export function Table<T>({ label, columns, rows, keyOf, actions }: TableProps<T>) {
  return (
    <table class="table" aria-label={label}>
      <thead>
        <tr>
          {columns.map(({ label: word }) => (
            <th key={word} scope="col">
              {word}
            </th>
          ))}
          {actions !== undefined && <td />}
        </tr>
      </thead>
      <tbody>
        {rows.map((entry) => (
          <tr key={keyOf(entry)}>
            {columns.map(({ label: word, class: style, cell }) => (
              <td key={word} class={style} data-label={word}>
                {cell(entry)}
              </td>
            ))}
            {actions !== undefined && <td class="table-actions">{actions(entry)}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/**
 * Shows a list from `useAsked` as a table on a panel, or `empty` when the list is empty. A failed call is reported
 * above the table.
 */
export function AskedTable<T>({
  asked,
  empty,
  ...table
}: Omit<TableProps<T>, 'rows'> & {
  readonly asked: Asking<readonly T[]>;
  readonly empty: ComponentChildren;
}) {
  const { value, error } = asked.value;
  return (
    <>
      {error !== null && <Failure error={error} onRetry={asked.again} />}
      {value !== undefined && (
        <div class="surface panel">{value.length === 0 ? empty : <Table {...table} rows={value} />}</div>
      )}
    </>
  );
}
