/** The place of rows when there are none: they are being loaded, none fits the filter, or there is nothing yet. */
import type { ComponentChildren } from 'preact';
import { Button } from './button.js';
import { Empty } from './empty.js';

interface NoRowsProps {
  readonly text: {
    readonly loading: string;
    readonly noneFound: string;
    readonly clearFilter: string;
    readonly empty: string;
    readonly emptyHint: string;
  };
  readonly isLoaded: boolean;
  /** True when a filter hides the rows. */
  readonly isFiltered: boolean;
  readonly onClear: () => void;
  /** The button or link that brings the first row. */
  readonly action?: ComponentChildren;
}

export function NoRows({ text, isLoaded, isFiltered, onClear, action }: NoRowsProps) {
  if (!isLoaded) return <Empty title={text.loading} />;
  if (!isFiltered) return <Empty title={text.empty} hint={text.emptyHint} action={action} />;
  return <Empty title={text.noneFound} action={<Button onPress={onClear}>{text.clearFilter}</Button>} />;
}
