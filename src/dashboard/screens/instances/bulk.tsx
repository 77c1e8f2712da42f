/** Start, stop, restart and delete of the selected instances. */
import type { InstanceInfo } from '../../../model/instance.js';
import { Button, ButtonLink } from '../../parts/button.js';
import { Icon } from '../../parts/icon.js';
import type { Asked } from '../../parts/instances/asked-dialog.js';
import { INSTANCE_ACTIONS } from '../../parts/pending-actions.js';
import { text as parts } from '../../parts/text.js';
import { hrefOf } from '../../router/place.js';
import { text } from './text.js';

interface BulkProps {
  readonly chosen: readonly InstanceInfo[];
  readonly onAsk: (asked: Asked) => void;
  readonly onClear: () => void;
}

export function Bulk({ chosen, onAsk, onClear }: BulkProps) {
  // The wall shows the first of them, and says of how many.
  const ids = chosen.slice(0, 200).map(({ id }) => id);
  return (
    <div class="inline bulk">
      <strong>{text.chosen(chosen.length)}</strong>
      {INSTANCE_ACTIONS.map((action) => (
        <Button
          key={action}
          kind={action === 'delete' ? 'risky' : 'normal'}
          onPress={() => onAsk({ action, instances: chosen })}
        >
          <Icon name={action} />
          {parts.action[action]}
        </Button>
      ))}
      <ButtonLink href={hrefOf(['wall'], { find: ids.join(' ') })}>{text.log}</ButtonLink>
      <Button kind="quiet" onPress={onClear}>
        {text.clear}
      </Button>
    </div>
  );
}
