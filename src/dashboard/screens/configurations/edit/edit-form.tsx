/** The editor, the list of faults, and the questions before a save. */
import { useSignal } from '@preact/signals';
import { Button } from '../../../parts/button.js';
import { CodeEditor } from '../../../parts/editor/code-editor.js';
import { Conflict } from '../../../parts/editor/conflict.js';
import { useUnsavedWarning } from '../../../parts/editor/use-drafts.js';
import { Badge } from '../../../parts/state-badge.js';
import { text as parts } from '../../../parts/text.js';
import { useServices } from '../../../services/services.js';
import { useAsked } from '../../../services/use-live.js';
import type { ConfigurationRow } from '../rows.js';
import { text } from '../text.js';
import { readSchema } from './content.js';
import type { Editing } from './editing.js';
import { type FaultPlace, Faults } from './faults.js';
import { Review } from './review.js';

interface EditFormProps {
  readonly name: string;
  readonly editing: Editing;
  readonly row: ConfigurationRow | undefined;
  readonly isReadOnly: boolean;
  readonly isChangedMeanwhile: boolean;
}

export function EditForm({ name, editing, row, isReadOnly, isChangedMeanwhile }: EditFormProps) {
  const { toasts } = useServices();
  const { edited } = editing;
  const goTo = useSignal<FaultPlace | null>(null);
  const schema = useAsked((api, signal) => readSchema(api, signal), []).value;
  useUnsavedWarning(isReadOnly ? null : edited, name);
  const judged = editing.judged.value;
  const review = async (): Promise<void> => {
    const problems = await toasts.run(editing.review());
    if (problems === undefined || problems === 0) return;
    const [first] = editing.judged.value?.problems ?? [];
    if (first !== undefined) goTo.value = { line: first.line, column: first.column };
    toasts.failed(new Error(text.notSaved(problems)));
  };
  const save = async (saving: Promise<boolean>): Promise<void> => {
    if ((await toasts.run(saving)) === true) toasts.done(text.saved(name));
  };
  // The editor waits for the schema, so that completion works from the first letter. When the schema cannot be loaded,
  // the editor works without completion.
  if (schema.value === undefined && schema.error === null) return <p class="quiet">{text.loading}</p>;
  const conflict = editing.conflict.value;
  return (
    <div class="stack configuration-edit">
      {isChangedMeanwhile && (
        <div class="notice" role="status">
          {parts.changedMeanwhile}
          <Button onPress={() => void toasts.run(editing.compare())}>{parts.compare}</Button>
        </div>
      )}
      <EditBar
        editing={editing}
        isReadOnly={isReadOnly}
        isNew={row?.entry == null}
        onReview={() => void review()}
      />
      <CodeEditor
        key={edited.generation.value}
        label={text.editorLabel(name)}
        text={edited.text.peek()}
        language="json"
        isReadOnly={isReadOnly}
        goTo={goTo.value}
        onChange={(typed) => edited.type(typed)}
        onSave={() => void review()}
        check={(typed) => editing.judge(typed)}
        {...(schema.value !== undefined && { schema: schema.value })}
      />
      {judged !== null && (
        <Faults
          judged={judged}
          onGo={(place) => {
            goTo.value = place;
          }}
        />
      )}
      {editing.plan.value !== null && (
        <Review
          name={name}
          plan={editing.plan.value}
          isBusy={editing.isBusy.value}
          onSave={() => void save(editing.save())}
          onClose={() => editing.closeReview()}
        />
      )}
      {conflict !== null && (
        <Conflict
          theirs={conflict.theirs?.text ?? null}
          mine={edited.text.value}
          language="json"
          isBusy={editing.isBusy.value}
          onClose={() => editing.closeConflict()}
          onKeepMine={() => void save(editing.keepMine(conflict.theirs))}
          onTakeTheirs={() => {
            if (conflict.theirs !== null) editing.takeTheirs(conflict.theirs);
          }}
        />
      )}
    </div>
  );
}

interface EditBarProps {
  readonly editing: Editing;
  readonly isReadOnly: boolean;
  readonly isNew: boolean;
  readonly onReview: () => void;
}

function EditBar({ editing, isReadOnly, isNew, onReview }: EditBarProps) {
  const { edited } = editing;
  const isDirty = edited.isDirty.value;
  const problems = editing.judged.value?.problems.length;
  if (isReadOnly) return null;
  return (
    <div class="bar">
      {problems !== undefined && (
        <Badge
          tone={problems === 0 ? 'good' : 'bad'}
          label={problems === 0 ? text.good : text.faults(problems)}
        />
      )}
      {isDirty && <Badge tone="busy" label={text.unsaved} />}
      <span class="quiet">{hintOf(editing)}</span>
      <div class="bar-end">
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
