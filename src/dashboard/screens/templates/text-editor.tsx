/**
 * An editor for a text file. A save replaces only the revision that was read; when somebody else changed the file, the
 * person decides.
 */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { ApiFailure } from '../../api/api-client.js';
import { Button } from '../../parts/button.js';
import { CodeEditor } from '../../parts/editor/code-editor.js';
import { Conflict } from '../../parts/editor/conflict.js';
import { EditedText, type Stored } from '../../parts/editor/edited-text.js';
import { useDrafts, useUnsavedWarning } from '../../parts/editor/use-drafts.js';
import { Badge } from '../../parts/state-badge.js';
import { text as parts } from '../../parts/text.js';
import { visibleText } from '../../parts/words/visible-text.js';
import { useServices } from '../../services/services.js';
import type { FilePaneProps } from './file-pane.js';
import type { FileContent, TemplateFiles } from './template-files.js';
import { text } from './text.js';

interface TextEditorProps extends FilePaneProps {
  readonly content: FileContent & { readonly kind: 'text' };
  readonly actions: ComponentChildren;
}

export function TextEditor({ template, files, path, change, content, actions }: TextEditorProps) {
  const { session, toasts } = useServices();
  const drafts = useDrafts();
  const edited = useMemo(
    () => new EditedText(drafts, `templates/${template.group}/${template.name}/${path}`, content),
    [drafts, template.group, template.name, path, content],
  );
  const isReadOnly = !session.can('ALL');
  const isBusy = useSignal(false);
  const isNews = useSignal(false);
  const conflict = useSignal<{ readonly theirs: Stored | null } | null>(null);
  useUnsavedWarning(isReadOnly ? null : edited, path);
  useEffect(() => {
    void newsOf(files, path, edited).then((news) => {
      isNews.value = news === 'unsaved';
    }, toasts.failed.bind(toasts));
  }, [change, files, path, edited, isNews, toasts]);
  const compare = async (): Promise<void> => {
    const theirs = await files.read(path);
    conflict.value = { theirs: theirs?.kind === 'text' ? theirs : null };
  };
  const save = async (): Promise<void> => {
    isBusy.value = true;
    try {
      await write(files, path, edited);
      isNews.value = false;
      toasts.done(text.saved(path));
    } catch (error) {
      if (!(error instanceof ApiFailure) || (error.status !== 412 && error.status !== 404)) throw error;
      await compare();
    } finally {
      isBusy.value = false;
    }
  };
  const isDirty = edited.isDirty.value;
  return (
    <>
      {isNews.value && isDirty && (
        <div class="notice" role="status">
          {parts.changedMeanwhile}
          <Button onPress={() => void toasts.run(compare())}>{parts.compare}</Button>
        </div>
      )}
      <div class="bar">
        <bdi class="mono file-path">{visibleText(path)}</bdi>
        {isDirty && <Badge tone="busy" label={text.unsaved} />}
        <span class="quiet">{hintOf(edited, content.size)}</span>
        <div class="bar-end">
          {actions}
          {isDirty && <Button onPress={() => edited.take(edited.base.peek())}>{parts.discard}</Button>}
          {!isReadOnly && (
            <Button
              kind="main"
              isBusy={isBusy.value}
              isDisabled={!isDirty}
              onPress={() => void toasts.run(save())}
            >
              {text.save}
            </Button>
          )}
        </div>
      </div>
      <CodeEditor
        key={edited.generation.value}
        label={text.editorLabel(path)}
        text={edited.text.peek()}
        language={path.endsWith('.json') ? 'json' : 'text'}
        isReadOnly={isReadOnly}
        onChange={(typed) => edited.type(typed)}
        onSave={() => void toasts.run(save())}
      />
      {conflict.value !== null && (
        <Conflict
          theirs={conflict.value.theirs?.text ?? null}
          mine={edited.text.value}
          language="text"
          isBusy={isBusy.value}
          onClose={() => {
            conflict.value = null;
          }}
          onTakeTheirs={() => {
            const theirs = conflict.value?.theirs;
            conflict.value = null;
            if (theirs != null) edited.take(theirs);
          }}
          onKeepMine={() => {
            edited.rebase(conflict.value?.theirs ?? { text: edited.base.peek().text, revision: null });
            conflict.value = null;
            void toasts.run(save());
          }}
        />
      )}
    </>
  );
}

/** Looks whether somebody else has changed the file. When nothing was typed here, the editor takes the new text. */
async function newsOf(
  files: TemplateFiles,
  path: string,
  edited: EditedText,
): Promise<'none' | 'taken' | 'unsaved'> {
  const revision = await files.revision(path);
  if (revision === edited.base.peek().revision) return 'none';
  if (edited.isDirty.peek()) return 'unsaved';
  const theirs = await files.read(path);
  if (theirs?.kind === 'text') edited.take(theirs);
  return 'taken';
}

/** Throws ApiFailure, with 412 when the file has changed since it was read. */
async function write(files: TemplateFiles, path: string, edited: EditedText): Promise<void> {
  const typed = edited.text.peek();
  const { revision } = edited.base.peek();
  const body = new Blob([typed]);
  const next = revision === null ? await files.create(path, body) : await files.replace(path, body, revision);
  edited.rebase({ text: typed, revision: next });
}

function hintOf(edited: EditedText, size: number): string {
  if (!edited.isKept.value) return parts.notKept;
  if (edited.wasRestored && edited.isDirty.value) return parts.unsavedRestored;
  return `${text.size(size)}. ${text.editorKeys}`;
}
