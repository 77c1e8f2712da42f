/** An editor for a text file. A save replaces only the revision that was read. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { EditedText, type Stored } from '../../parts/editor/edited-text.js';
import { Editing, useDrafts } from '../../parts/editor/editing.js';
import { TextForm, useSaved } from '../../parts/editor/text-form.js';
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
  const { group, name } = template;
  const { session, toasts } = useServices();
  const drafts = useDrafts();
  const editing = useMemo(() => {
    const edited = new EditedText(drafts, `templates/${group}/${name}/${path}`, content);
    return new Editing(storeOf(files, path), edited);
  }, [drafts, group, name, files, path, content]);
  const { edited } = editing;
  const isNews = useSignal(false);
  const finish = useSaved(text.saved(path));
  useEffect(() => {
    const look = async (): Promise<void> => {
      const isOther = (await files.revision(path)) !== edited.base.peek().revision;
      isNews.value = isOther && edited.isDirty.peek();
      // When nothing was typed here, the editor takes the new text.
      if (isOther && !isNews.peek()) await editing.refresh();
    };
    void toasts.run(look());
  }, [change, files, path, edited, editing, isNews, toasts]);
  const save = async (): Promise<boolean> => {
    const isSaved = await editing.save();
    if (isSaved) isNews.value = false;
    return isSaved;
  };
  const isDirty = edited.isDirty.value;
  return (
    <TextForm
      editing={editing}
      editor={{
        label: text.editorLabel(path),
        language: path.endsWith('.json') ? 'json' : 'text',
        isReadOnly: !session.can('CONFIGURE'),
      }}
      name={path}
      isChangedMeanwhile={isNews.value && isDirty}
      about={<bdi class="mono file-path">{visibleText(path)}</bdi>}
      hint={`${text.size(content.size)}. ${text.editorKeys}`}
      actions={actions}
      save={text.save}
      canSave={isDirty}
      onSave={() => void finish(save())}
      saved={text.saved(path)}
      difference="text"
    />
  );
}

function storeOf(files: TemplateFiles, path: string) {
  return {
    read: async (): Promise<Stored | null> => {
      const content = await files.read(path);
      return content?.kind === 'text' ? content : null;
    },
    write: (text: string, revision: string | null): Promise<string> =>
      revision === null
        ? files.create(path, new Blob([text]))
        : files.replace(path, new Blob([text]), revision),
  };
}
