/** Asks before files are deleted, shows their names, and says how many are done. */
import { Confirm } from '../../parts/dialog.js';
import { visibleText } from '../../parts/words/visible-text.js';
import { useServices } from '../../services/services.js';
import { sentenceFor } from '../../services/toasts.js';
import type { TemplateFiles } from './template-files.js';
import { text } from './text.js';

interface RemoveFilesProps {
  readonly files: TemplateFiles;
  readonly paths: readonly string[];
  readonly onRemoved: () => void;
  readonly onClose: () => void;
}

export function RemoveFiles({ files, paths, onRemoved, onClose }: RemoveFilesProps) {
  const { toasts } = useServices();
  const remove = async (): Promise<void> => {
    let done = 0;
    try {
      for (const path of paths) {
        await files.remove(path);
        done++;
      }
    } catch (error) {
      throw paths.length === 1 ? error : new Error(text.removedSome(done, paths.length, sentenceFor(error)));
    } finally {
      if (done > 0) onRemoved();
    }
    toasts.done(text.removed(done));
  };
  return (
    <Confirm
      title={text.removeTitle(paths.length)}
      explanation={text.removeExplanation}
      names={paths.map(visibleText)}
      action={text.remove}
      isDanger
      onConfirm={remove}
      onClose={onClose}
    />
  );
}
