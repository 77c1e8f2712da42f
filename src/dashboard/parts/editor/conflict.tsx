/**
 * A dialog for a text that somebody else has changed meanwhile: it shows both texts, and the person decides. Nothing
 * typed is lost.
 */
import { Button } from '../button.js';
import { Dialog } from '../dialog.js';
import { text as parts } from '../text.js';
import { Difference } from './code-editor.js';
import type { Language } from './editor-setup.js';

interface ConflictProps {
  /** The text that the server has now; null: it was removed. */
  readonly theirs: string | null;
  readonly mine: string;
  readonly language: Language;
  readonly isBusy: boolean;
  readonly onKeepMine: () => void;
  readonly onTakeTheirs: () => void;
  /** Closes the dialog; the person goes on editing, and nothing is saved. */
  readonly onClose: () => void;
}

export function Conflict(props: ConflictProps) {
  const { theirs, mine, language, isBusy } = props;
  return (
    <Dialog title={parts.conflictTitle} size="wide" onClose={props.onClose}>
      <p>{theirs === null ? parts.conflictGone : parts.conflictHint}</p>
      {theirs !== null && (
        <div class="editor-in-dialog">
          <Difference label={parts.conflictTitle} before={theirs} after={mine} language={language} />
        </div>
      )}
      <div class="foot">
        <Button onPress={props.onClose}>{parts.goOnEditing}</Button>
        {theirs !== null && (
          <Button isDisabled={isBusy} onPress={props.onTakeTheirs}>
            {parts.takeTheirs}
          </Button>
        )}
        <Button kind="danger" isBusy={isBusy} onPress={props.onKeepMine}>
          {parts.keepMine}
        </Button>
      </div>
    </Dialog>
  );
}
