/**
 * The files of a template: the tree at the side, the chosen file beside it. Files, folders and zips can be dropped
 * here.
 */

import { useSignal } from '@preact/signals';
import { useMemo, useRef } from 'preact/hooks';
import { Button, putting } from '../../parts/button.js';
import { DialogButton } from '../../parts/dialog.js';
import { Menu } from '../../parts/menu.js';
import { Empty, Failure } from '../../parts/notes.js';
import { saveFile } from '../../parts/save-file.js';
import { text as parts } from '../../parts/text.js';
import { useAsked, useServices } from '../../services/services.js';
import { FilePane } from './file-pane.js';
import { FileTree } from './file-tree.js';
import { NewFileDialog } from './new-file.js';
import { TemplateFiles } from './template-files.js';
import type { TemplateName } from './templates-screen.js';
import { text } from './text.js';
import { UploadDialog } from './upload-dialog.js';
import type { ChosenFile } from './upload-plan.js';

interface FilesTabProps {
  readonly template: TemplateName;
  /** A value that is a new object after each change of the template. */
  readonly change: object;
}

export function FilesTab({ template, change }: FilesTabProps) {
  const { api, router, session } = useServices();
  const { group, name } = template;
  const files = useMemo(() => new TemplateFiles(api, { group, name }), [api, group, name]);
  const asked = useAsked((_, signal) => files.list(signal), [files, change]);
  const chosen = useSignal<readonly ChosenFile[] | null>(null);
  const isOver = useSignal(false);
  const { value: paths, error } = asked.value;
  const { file } = router.place.value.query;
  const canWrite = session.can('CONFIGURE');
  const drop = {
    onDragOver: (event: DragEvent) => {
      if (!canWrite || event.dataTransfer?.types.includes('Files') !== true) return;
      event.preventDefault();
      isOver.value = true;
    },
    onDragLeave: putting(isOver, false),
    onDrop: (event: DragEvent) => {
      isOver.value = false;
      if (!canWrite || event.dataTransfer === null) return;
      event.preventDefault();
      void droppedIn(event.dataTransfer).then((found) => {
        if (found.length > 0) chosen.value = found;
      });
    },
  };
  if (paths === undefined)
    return error === null ? (
      <p class="quiet">{parts.loading}</p>
    ) : (
      <Failure error={error} onRetry={asked.again} />
    );
  return (
    <section class={isOver.value ? 'stack template-drop' : 'stack'} aria-label={text.files} {...drop}>
      {error !== null && <Failure error={error} onRetry={asked.again} />}
      <FileActions
        template={template}
        files={files}
        onChosen={(found) => {
          chosen.value = found;
        }}
      />
      <div class="template-split">
        <FileTree
          files={files}
          paths={paths}
          current={file}
          hrefPath={['templates', group, name]}
          onChanged={asked.again}
        />
        {file === undefined ? (
          <Empty title={text.choose} hint={text.chooseHint} />
        ) : (
          <FilePane
            key={file}
            template={template}
            files={files}
            path={file}
            change={change}
            onChanged={asked.again}
          />
        )}
      </div>
      {chosen.value !== null && (
        <UploadDialog
          files={files}
          chosen={chosen.value}
          present={new Set(paths)}
          onChanged={asked.again}
          onClose={putting(chosen, null)}
        />
      )}
    </section>
  );
}

interface FileActionsProps {
  readonly template: TemplateName;
  readonly files: TemplateFiles;
  readonly onChosen: (files: readonly ChosenFile[]) => void;
}

function FileActions({ template, files, onChosen }: FileActionsProps) {
  const { session, toasts } = useServices();
  const isPacking = useSignal(false);
  const inputs = { files: useRef<HTMLInputElement>(null), folder: useRef<HTMLInputElement>(null) };
  const take = (input: HTMLInputElement): void => {
    const found = chosenIn(input.files);
    // Empty the input, so that the person can choose the same files again.
    input.value = '';
    if (found.length > 0) onChosen(found);
  };
  const download = async (): Promise<void> => {
    isPacking.value = true;
    const zip = await toasts.run(files.export());
    if (zip !== undefined) saveFile(zip, `${template.group}-${template.name}.zip`);
    isPacking.value = false;
  };
  const canWrite = session.can('CONFIGURE');
  return (
    <div class="bar template-actions">
      {canWrite && (
        <>
          <Menu
            label={text.upload}
            kind="main"
            items={[
              { label: text.uploadFiles, onPress: () => inputs.files.current?.click() },
              { label: text.uploadFolder, onPress: () => inputs.folder.current?.click() },
            ]}
          />
          <DialogButton dialog={(onClose) => <NewFileDialog template={template} onClose={onClose} />}>
            {text.newFile}
          </DialogButton>
          <input
            ref={inputs.files}
            class="hidden-text"
            type="file"
            multiple
            tabIndex={-1}
            aria-label={text.uploadFiles}
            onChange={(event) => take(event.currentTarget)}
          />
          <input
            ref={(element) => {
              inputs.folder.current = element;
              if (element !== null) element.webkitdirectory = true;
            }}
            class="hidden-text"
            type="file"
            tabIndex={-1}
            aria-label={text.uploadFolder}
            onChange={(event) => take(event.currentTarget)}
          />
        </>
      )}
      <Button isBusy={isPacking.value} onPress={() => void download()}>
        {isPacking.value ? text.downloading : text.download}
      </Button>
      {canWrite && <span class="quiet template-drop-hint">{text.dropHint}</span>}
    </div>
  );
}

/** The files of a file input. An input for folders also gives their paths. */
function chosenIn(list: FileList | null): ChosenFile[] {
  return [...(list ?? [])].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
}

/** The files of a drop. Call it in the event itself: the browser forgets the items after it. */
async function droppedIn(transfer: DataTransfer): Promise<ChosenFile[]> {
  const items = [...transfer.items].filter(({ kind }) => kind === 'file');
  const found = items.map((item) => ({ entry: item.webkitGetAsEntry(), file: item.getAsFile() }));
  const files = found.map(async ({ entry, file }) => {
    if (entry !== null) return await filesIn(entry);
    return file === null ? [] : [{ path: file.name, file }];
  });
  return (await Promise.all(files)).flat();
}

async function filesIn(entry: FileSystemEntry): Promise<ChosenFile[]> {
  if (entry instanceof FileSystemFileEntry) {
    const file = await new Promise<File>((resolve, reject) => entry.file(resolve, reject));
    return [{ path: entry.fullPath.replace(/^\//, ''), file }];
  }
  if (!(entry instanceof FileSystemDirectoryEntry)) return [];
  const reader = entry.createReader();
  const found: ChosenFile[] = [];
  // A browser gives the entries in parts; an empty part is the end.
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (part.length === 0) return found;
    for (const one of part) found.push(...(await filesIn(one)));
  }
}
