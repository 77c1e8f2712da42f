/** One file of a template: its text in an editor, or the reason why no text is shown; download and delete. */

import { Button } from '../../parts/button.js';
import { Empty, Failure } from '../../parts/notes.js';
import { saveFile } from '../../parts/save-file.js';
import { text as parts } from '../../parts/text.js';
import { visibleText } from '../../parts/words/visible-text.js';
import { useAsked, useServices } from '../../services/services.js';
import { RemoveFiles } from './remove-files.js';
import type { TemplateFiles } from './template-files.js';
import type { TemplateName } from './templates-screen.js';
import { text } from './text.js';
import { TextEditor } from './text-editor.js';

export interface FilePaneProps {
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
