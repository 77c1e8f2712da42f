/** The list of toasts. Screen readers read each new toast aloud. */

import { Button } from '../parts/button.js';
import { text } from '../parts/text.js';
import { useServices } from '../services/services.js';

export function ToastList() {
  const { toasts } = useServices();
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.shown.value.map(({ id, kind, text: message }) => (
        <div key={id} class={`toast toast-${kind}`}>
          <span>{message}</span>
          <Button kind="quiet" onPress={() => toasts.close(id)}>
            {text.close}
          </Button>
        </div>
      ))}
    </div>
  );
}
