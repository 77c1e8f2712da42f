/**
 * The pane of a template's file: its text in an editor, or the reason why no text is shown; download and delete. A save of
 * the text replaces only the revision that was read.
 */

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { Button } from '../../parts/button.js';
import { EditedText, type Stored } from '../../parts/editor/edited-text.js';
import { Editing, useDrafts } from '../../parts/editor/editing.js';
import { TextForm, useSaved } from '../../parts/editor/text-form.js';
import { Empty, Failure } from '../../parts/notes.js';
import { saveFile } from '../../parts/save-file.js';
import { text as parts } from '../../parts/text.js';
import { visibleText } from '../../parts/words/visible-text.js';
import { useAsked, useServices } from '../../services/services.js';
import { RemoveFiles } from './remove-files.js';
import type { FileContent, TemplateFiles } from './template-files.js';
import type { TemplateName } from './templates-screen.js';
import { text } from './text.js';

interface FilePaneProps {
  readonly template: TemplateName;
  readonly files: TemplateFiles;
  readonly path: string;
  /** A value that is a new object after each change of the template. */
  readonly change: object;
  readonly onChanged: () => void;
}

export function FilePane(props: FilePaneProps) {
  const { files, path } = props;
  const asked = useAsked(() => files.read(path), [files, path]);
  const { value, error } = asked.value;
  if (error !== null) return <Failure error={error} onRetry={asked.again} />;
  if (value === undefined) return <p class="quiet">{parts.loading}</p>;
  if (value === null) return <Empty title={text.fileGone(path)} hint={text.unknownHint} />;
  const actions = <FileButtons {...props} />;
  return (
    <div class="stack template-file">
      {value.kind === 'text' ? (
        <TextEditor {...props} content={value} actions={actions} />
      ) : (
        <>
          <div class="bar">
            <bdi class="mono file-path">{visibleText(path)}</bdi>
            <div class="bar-end">{actions}</div>
          </div>
          <Empty
            title={value.kind === 'large' ? text.tooLarge(value.size) : text.binary}
            hint={value.kind === 'large' ? text.tooLargeHint : text.binaryHint(value.size)}
          />
        </>
      )}
    </div>
  );
}

function FileButtons({ files, path, template: { group, name }, onChanged }: FilePaneProps) {
  const { toasts, router } = useServices();
  const download = async (): Promise<void> => {
    const content = await toasts.run(files.download(path));
    if (content !== undefined) saveFile(content, path.split('/').pop() ?? path);
  };
  return (
    <>
      <Button onPress={() => void download()}>{text.downloadFile}</Button>
      <RemoveFiles
        files={files}
        pathsOf={() => [path]}
        onRemoved={() => {
          onChanged();
          router.go(['templates', group, name]);
        }}
      />
    </>
  );
}

interface TextEditorProps extends FilePaneProps {
  readonly content: FileContent & { readonly kind: 'text' };
  readonly actions: ComponentChildren;
}

function TextEditor({ template, files, path, change, content, actions }: TextEditorProps) {
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
