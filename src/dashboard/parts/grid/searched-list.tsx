/** A screen that lists all things of one kind by name, with a search field and a button that makes a new one. */
import type { ComponentChildren } from 'preact';
import { useServices } from '../../services/services.js';
import { DialogButton } from '../dialog.js';
import { FindInput } from '../form.js';
import { Failure, NoRows, type NoRowsProps } from '../notes.js';
import { Page } from '../page.js';
import { text as parts } from '../text.js';
import { type Column, Grid, listRows } from './grid.js';

interface SearchedListProps<T> {
  readonly text: Omit<NoRowsProps['text'], 'loading' | 'emptyHint'> &
    Readonly<Record<'title' | 'search' | 'searchHint' | 'create', string>> & {
      readonly counted: (shown: number, all: number) => string;
    };
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
  readonly hrefOf: (row: T) => string;
  /** Tells whether a row matches. `word` is in lower case. */
  readonly isFound: (row: T, word: string) => boolean;
  readonly columns: readonly Column<T>[];
  readonly isLoaded: boolean;
  readonly emptyHint: string;
  /** Why the rows may be old; null: the rows are current. */
  readonly error?: unknown;
  readonly onRetry?: () => void;
  /** A sentence about all rows together, above them. */
  readonly notice?: ComponentChildren;
  readonly createDialog: (onClose: () => void) => ComponentChildren;
}

export function SearchedList<T>(props: SearchedListProps<T>) {
  const { text, rows, keyOf, hrefOf, isFound, columns, isLoaded, emptyHint, createDialog } = props;
  const { error = null, onRetry, notice } = props;
  const { router, session } = useServices();
  const { find = '' } = router.place.value.query;
  const shown = rows.filter((row) => isFound(row, find.toLowerCase()));
  const create = session.can('CONFIGURE') && (
    <DialogButton kind="main" dialog={createDialog}>
      {text.create}
    </DialogButton>
  );
  return (
    <Page
      title={text.title}
      about={isLoaded && text.counted(shown.length, rows.length)}
      actions={create}
      fill
    >
      {error !== null && <Failure error={error} {...(onRetry !== undefined && { onRetry })} />}
      {notice}
      {rows.length > 0 && <FindInput class="list-find" label={text.search} hint={text.searchHint} />}
      <Grid
        label={text.title}
        columns={columns}
        rows={listRows(shown, keyOf)}
        hrefOf={hrefOf}
        empty={
          <NoRows
            text={{ ...text, loading: parts.loading, emptyHint }}
            isLoaded={isLoaded}
            isFiltered={rows.length > 0}
            onClear={() => router.set({ find: undefined })}
            action={create}
          />
        }
      />
    </Page>
  );
}
