/** Asks before an action on named things. It shows all of the names. */
import { useSignal } from '@preact/signals';
import { sentenceFor } from '../services/toasts.js';
import { Button } from './button.js';
import { Dialog } from './dialog.js';
import { Failure } from './failure.js';
import { text } from './text.js';

interface ConfirmProps {
  readonly title: string;
  /** Says what the action does, and what it leaves alone. */
  readonly explanation: string;
  readonly names: readonly string[];
  /** The word on the button that does it. */
  readonly action: string;
  readonly isDanger?: boolean;
  /** Does the action. When it rejects, the dialog stays open and shows why. */
  readonly onConfirm: () => Promise<void>;
  readonly onClose: () => void;
}

export function Confirm({
  title,
  explanation,
  names,
  action,
  isDanger = false,
  onConfirm,
  onClose,
}: ConfirmProps) {
  const isBusy = useSignal(false);
  const problem = useSignal<string | null>(null);
  const confirm = async (): Promise<void> => {
    isBusy.value = true;
    try {
      await onConfirm();
      onClose();
    } catch (error) {
      problem.value = sentenceFor(error);
    } finally {
      isBusy.value = false;
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{explanation}</p>
      <ul class="names mono">
        {names.map((name) => (
          <li key={name}>{name}</li>
        ))}
      </ul>
      {problem.value !== null && <Failure error={problem.value} />}
      <div class="foot">
        <Button onPress={onClose}>{text.cancel}</Button>
        <Button kind={isDanger ? 'danger' : 'main'} isBusy={isBusy.value} onPress={() => void confirm()}>
          {action}
        </Button>
      </div>
    </Dialog>
  );
}
