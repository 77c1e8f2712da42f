/** The bar above the editor: whether the text is valid and saved, and the buttons. */
import { Button } from '../../../parts/button.js';
import { Badge } from '../../../parts/state-badge.js';
import { text as parts } from '../../../parts/text.js';
import { text } from '../text.js';
import type { Editing } from './editing.js';

interface EditBarProps {
  readonly editing: Editing;
  readonly isReadOnly: boolean;
  readonly isNew: boolean;
  readonly onReview: () => void;
}

export function EditBar({ editing, isReadOnly, isNew, onReview }: EditBarProps) {
  const { edited } = editing;
  const isDirty = edited.isDirty.value;
  const problems = editing.judged.value?.problems.length;
  if (isReadOnly) return null;
  return (
    <div class="edit-bar">
      {problems !== undefined && (
        <Badge
          tone={problems === 0 ? 'good' : 'bad'}
          label={problems === 0 ? text.good : text.faults(problems)}
        />
      )}
      {isDirty && <Badge tone="busy" label={text.unsaved} />}
      <span class="quiet">{hintOf(editing)}</span>
      <div class="edit-bar-end">
        {isDirty && <Button onPress={() => edited.take(edited.base.peek())}>{parts.discard}</Button>}
        <Button kind="main" isBusy={editing.isBusy.value} isDisabled={!isDirty && !isNew} onPress={onReview}>
          {text.save}
        </Button>
      </div>
    </div>
  );
}

function hintOf({ edited }: Editing): string {
  if (!edited.isKept.value) return parts.notKept;
  return edited.wasRestored && edited.isDirty.value ? parts.unsavedRestored : text.editorKeys;
}
