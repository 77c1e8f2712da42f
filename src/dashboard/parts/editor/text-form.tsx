/** A text in an editor, the bar above it, and the question when somebody else has changed the text meanwhile. */
import type { ComponentChildren } from 'preact';
import { useServices } from '../../services/services.js';
import { Button } from '../button.js';
import { Dialog } from '../dialog.js';
import { Badge } from '../state-badge.js';
import { text as parts } from '../text.js';
import { CodeEditor, type CodeEditorProps, Difference } from './code-editor.js';
import { type Editing, useUnsavedWarning } from './editing.js';

interface TextFormProps {
  readonly editing: Editing;
  readonly editor: Omit<CodeEditorProps, 'generation' | 'text' | 'onChange' | 'onSave'>;
  /** The name of the text in messages. */
  readonly name: string;
  /** True when somebody else has changed the text while this person was typing. */
  readonly isChangedMeanwhile: boolean;
  /** Shown at the start of the bar. */
  readonly about: ComponentChildren;
  /** Shown in the bar when there is nothing to say about the draft. */
  readonly hint: string;
  /** More buttons of the bar. For a text that can only be read, the bar is shown only if there are such buttons. */
  readonly actions?: ComponentChildren;
  /** The word on the button that saves. */
  readonly save: string;
  readonly canSave: boolean;
  /** Called by the button and by Ctrl-S. */
  readonly onSave: () => void;
  /** The sentence after a save. */
  readonly saved: string;
  /** The language of the two texts in a conflict. */
  readonly difference: CodeEditorProps['language'];
}

export function TextForm(props: TextFormProps) {
  const { editing, editor, actions, onSave } = props;
  const { toasts } = useServices();
  const { edited } = editing;
  const isDirty = edited.isDirty.value;
  useUnsavedWarning(edited, props.name, editor.isReadOnly);
  return (
    <>
      {props.isChangedMeanwhile && (
        <div class="notice" role="status">
          {parts.changedMeanwhile}
          <Button onPress={() => void toasts.run(editing.compare())}>{parts.compare}</Button>
        </div>
      )}
      {(!editor.isReadOnly || actions !== undefined) && (
        <div class="bar">
          {props.about}
          {isDirty && <Badge tone="busy" label={parts.unsaved} />}
          <span class="quiet">{noteOf(editing) ?? props.hint}</span>
          <div class="bar-end">
            {actions}
            {isDirty && <Button onPress={() => edited.take(edited.base.peek())}>{parts.discard}</Button>}
            {!editor.isReadOnly && (
              <Button kind="main" isBusy={editing.isBusy.value} isDisabled={!props.canSave} onPress={onSave}>
                {props.save}
              </Button>
            )}
          </div>
        </div>
      )}
      <CodeEditor
        generation={edited.generation.value}
        {...editor}
        text={edited.text.peek()}
        onChange={(typed) => edited.type(typed)}
        onSave={onSave}
      />
      <Conflict {...props} />
    </>
  );
}

function noteOf({ edited }: Editing): string | null {
  if (!edited.isKept.value) return parts.notKept;
  return edited.wasRestored && edited.isDirty.value ? parts.unsavedRestored : null;
}

/** Returns a function that waits for a save, and says when the text is stored. It returns whether it is. */
export function useSaved(sentence: string): (saving: Promise<boolean>) => Promise<boolean> {
  const { toasts } = useServices();
  return async (saving) => {
    const isSaved = (await toasts.run(saving)) === true;
    if (isSaved) toasts.done(sentence);
    return isSaved;
  };
}

/** A dialog for a text that somebody else has changed: it shows both texts, and the person decides. Nothing is lost. */
function Conflict({ editing, saved, difference }: TextFormProps) {
  const finish = useSaved(saved);
  const conflict = editing.conflict.value;
  if (conflict === null) return null;
  const { theirs } = conflict;
  const close = (): void => editing.closeConflict();
  return (
    <Dialog title={parts.conflictTitle} size="wide" onClose={close}>
      <p>{theirs === null ? parts.conflictGone : parts.conflictHint}</p>
      {theirs !== null && (
        <div class="editor-in-dialog">
          <Difference
            label={parts.conflictTitle}
            before={theirs.text}
            after={editing.edited.text.value}
            language={difference}
          />
        </div>
      )}
      <div class="foot">
        <Button onPress={close}>{parts.goOnEditing}</Button>
        {theirs !== null && (
          <Button isDisabled={editing.isBusy.value} onPress={() => editing.takeTheirs(theirs)}>
            {parts.takeTheirs}
          </Button>
        )}
        <Button
          kind="danger"
          isBusy={editing.isBusy.value}
          onPress={() => void finish(editing.keepMine(theirs))}
        >
          {parts.keepMine}
        </Button>
      </div>
    </Dialog>
  );
}
