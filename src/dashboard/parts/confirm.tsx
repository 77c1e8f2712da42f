/** Asks before an action on named things. It shows all of the names. */
import { FormDialog } from './dialog.js';

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

export function Confirm({ explanation, names, onConfirm, ...dialog }: ConfirmProps) {
  const act = async (): Promise<void> => {
    await onConfirm();
    dialog.onClose();
  };
  return (
    <FormDialog {...dialog} onSubmit={act}>
      <p>{explanation}</p>
      <ul class="names mono">
        {names.map((name) => (
          <li key={name}>{name}</li>
        ))}
      </ul>
    </FormDialog>
  );
}
