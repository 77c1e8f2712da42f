/** The notes in place of content: nothing is there yet, nothing fits the filter, or something went wrong. */
import type { ComponentChildren } from 'preact';
import { hrefOf } from '../router/place.js';
import { sentenceFor } from '../services/toasts.js';
import { Button, ButtonLink } from './button.js';
import { text } from './text.js';

interface EmptyProps {
  readonly title: string;
  /** Says how content gets to this place. */
  readonly hint?: ComponentChildren;
  /** The button or link that brings content here. */
  readonly action?: ComponentChildren;
  /** Used in place of `action`: the screen to go to, and the word on the link. */
  readonly link?: readonly [screen: string, word: string];
}

/** A note for a place where nothing is shown yet. It says how content gets there. */
export function Empty({ title, hint, link, action }: EmptyProps) {
  const shown = link === undefined ? action : <ButtonLink href={hrefOf([link[0]])}>{link[1]}</ButtonLink>;
  return (
    <div class="empty">
      <p class="text-lg semibold">{title}</p>
      {hint !== undefined && <p class="quiet">{hint}</p>}
      {shown !== undefined && <div>{shown}</div>}
    </div>
  );
}

/** Says what went wrong and what to do, and offers to try again where that helps. */
export function Failure({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  return (
    <div class="failure" role="alert">
      <p>{sentenceFor(error)}</p>
      {onRetry !== undefined && <Button onPress={onRetry}>{text.tryAgain}</Button>}
    </div>
  );
}

export interface NoRowsProps {
  readonly text: Readonly<Record<'loading' | 'noneFound' | 'clearFilter' | 'empty' | 'emptyHint', string>>;
  readonly isLoaded: boolean;
  /** True when a filter hides the rows. */
  readonly isFiltered: boolean;
  readonly onClear: () => void;
  /** The button or link that brings the first row. */
  readonly action?: ComponentChildren;
}

/** Shown in place of rows: the rows are being loaded, none fits the filter, or there are none yet. */
export function NoRows({ text, isLoaded, isFiltered, onClear, action }: NoRowsProps) {
  if (!isLoaded) return <Empty title={text.loading} />;
  if (!isFiltered) return <Empty title={text.empty} hint={text.emptyHint} action={action} />;
  return <Empty title={text.noneFound} action={<Button onPress={onClear}>{text.clearFilter}</Button>} />;
}
