/** A note that says what went wrong and what to do, and offers to try again where that helps. */
import { sentenceFor } from '../services/toasts.js';
import { Button } from './button.js';
import { text } from './text.js';

export function Failure({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  return (
    <div class="failure" role="alert">
      <p>{sentenceFor(error)}</p>
      {onRetry !== undefined && <Button onPress={onRetry}>{text.tryAgain}</Button>}
    </div>
  );
}
