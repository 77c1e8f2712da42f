/** A screen that lists all things of one kind by name, with a search field and a button that makes one more. */
import type { ComponentChildren } from 'preact';
import { useServices } from '../../services/services.js';
import { DialogButton } from '../dialog.js';
import { Failure } from '../failure.js';
import { NoRows } from '../no-rows.js';
import { Page } from '../page.js';
import { SearchInput } from '../search-input.js';
import { type Column, Grid } from './grid.js';
import { listRows } from './grid-rows.js';

interface SearchedListProps<T> {
  readonly text: {
    readonly title: string;
    readonly counted: (shown: number, all: number) => string;
    readonly search: string;
    readonly searchHint: string;
    readonly loading: string;
    readonly noneFound: string;
    readonly clearFilter: string;
    readonly empty: string;
    readonly create: string;
  };
  /** All rows, in their order. */
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
  readonly hrefOf: (row: T) => string;
  /** Tells whether a row matches. `word` is in lower case. */
  readonly isFound: (row: T, word: string) => boolean;
  readonly columns: readonly Column<T>[];
  readonly isLoaded: boolean;
  readonly emptyHint: string;
  /** Why the rows may be old; null: they are not. */
  readonly error?: unknown;
  readonly onRetry?: () => void;
  readonly createDialog: (onClose: () => void) => ComponentChildren;
}

export function SearchedList<T>(props: SearchedListProps<T>) {
  const { text, rows, keyOf, hrefOf, isFound, columns, isLoaded, emptyHint, createDialog } = props;
  const { error = null, onRetry } = props;
  const { router, session } = useServices();
  const { find = '' } = router.place.value.query;
  const shown = rows.filter((row) => isFound(row, find.toLowerCase()));
  const create = session.can('ALL') && (
    <DialogButton kind="main" dialog={createDialog}>
      {text.create}
    </DialogButton>
  );
  const search = (word: string): void => router.set({ find: word || undefined });
  return (
    <Page
      title={text.title}
      about={isLoaded && text.counted(shown.length, rows.length)}
      actions={create}
      fill
    >
      {error !== null && <Failure error={error} {...(onRetry !== undefined && { onRetry })} />}
      {rows.length > 0 && (
        <SearchInput
          class="list-find"
          label={text.search}
          hint={text.searchHint}
          value={find}
          onInput={search}
        />
      )}
      <Grid
        label={text.title}
        columns={columns}
        rows={listRows(shown, keyOf)}
        hrefOf={hrefOf}
        empty={
          <NoRows
            text={{ ...text, emptyHint }}
            isLoaded={isLoaded}
            isFiltered={rows.length > 0}
            onClear={() => search('')}
            action={create}
          />
        }
      />
    </Page>
  );
}
