/** A dialog that lists the keyboard shortcuts. */
import { Button } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { text as parts } from '../parts/text.js';
import { text } from './text.js';

export function KeyHelp({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title={text.keys} onClose={onClose}>
      <dl class="keys">
        {text.keyHelp.map(({ keys, what }) => (
          <div key={what}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <div class="foot">
        <Button onPress={onClose}>{parts.close}</Button>
      </div>
    </Dialog>
  );
}
