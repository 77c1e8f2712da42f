/** A button that deletes files. It shows their names and asks first, and at the end says how many were deleted. */
import type { ButtonProps } from '../../parts/button.js';
import { Confirm, DialogButton } from '../../parts/dialog.js';
import { visibleText } from '../../parts/words/visible-text.js';
import { useServices } from '../../services/services.js';
import { sentenceFor } from '../../services/toasts.js';
import type { TemplateFiles } from './template-files.js';
import { text } from './text.js';

interface RemoveFilesProps extends Pick<ButtonProps, 'kind' | 'hint'> {
  readonly files: TemplateFiles;
  /** Returns the paths of the files, called when the button is pressed. */
  readonly pathsOf: () => readonly string[];
  readonly onRemoved: () => void;
}

export function RemoveFiles({ files, pathsOf, onRemoved, ...button }: RemoveFilesProps) {
  const { session, toasts } = useServices();
  const remove = async (paths: readonly string[]): Promise<void> => {
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
  const ask = (onClose: () => void) => {
    const paths = pathsOf();
    return (
      <Confirm
        title={text.removeTitle(paths.length)}
        explanation={text.removeExplanation}
        names={paths.map(visibleText)}
        action={text.remove}
        isDanger
        onConfirm={() => remove(paths)}
        onClose={onClose}
      />
    );
  };
  if (!session.can('CONFIGURE')) return null;
  return (
    <DialogButton {...button} dialog={ask}>
      {text.remove}
    </DialogButton>
  );
}
