/** A dialog of the browser: it holds the focus, Escape closes it, and then the focus returns to where it was. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Button, type ButtonProps, putting } from './button.js';
import { Form, type FormProps } from './form.js';

interface DialogProps {
  readonly title: string;
  readonly children: ComponentChildren;
  /** Called on Escape and on a press beside the dialog. */
  readonly onClose: () => void;
  readonly size?: 'normal' | 'wide';
}

/** A dialog that is open as long as it is rendered. */
export function Dialog({ title, children, onClose, size = 'normal' }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape is the key; the browser turns it into `cancel`
    <dialog
      ref={element}
      class={`dialog dialog-${size}`}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === element.current) onClose();
      }}
    >
      <div class="dialog-content">
        <h2 id={titleId}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

/** A dialog with a form. `onSubmit` acts, and then has to close the dialog. */
export function FormDialog({
  title,
  ...form
}: FormProps & { readonly title: string; readonly onClose: () => void }) {
  return (
    <Dialog title={title} onClose={form.onClose}>
      <Form {...form} />
    </Dialog>
  );
}

export function DialogButton({
  dialog,
  ...button
}: Omit<ButtonProps, 'onPress'> & { readonly dialog: (onClose: () => void) => ComponentChildren }) {
  const isOpen = useSignal(false);
  return (
    <>
      <Button {...button} onPress={putting(isOpen, true)} />
      {isOpen.value && dialog(putting(isOpen, false))}
    </>
  );
}

interface ConfirmProps {
  readonly title: string;
  /** Says what the action does, and what it leaves alone. */
  readonly explanation: string;
  readonly names: readonly string[];
  /** The word on the button that confirms. */
  readonly action: string;
  readonly isDanger?: boolean;
  /** Does the action. When it rejects, the dialog stays open and shows why. */
  readonly onConfirm: () => Promise<void>;
  readonly onClose: () => void;
}

/** Asks before an action on named things. It shows all of the names. */
export function Confirm({ explanation, names, onConfirm, ...dialog }: ConfirmProps) {
  const act = async (): Promise<void> => {
    await onConfirm();
    dialog.onClose();
  };
  return (
    <FormDialog {...dialog} onSubmit={act}>
      <p>{explanation}</p>
      <ul class="names mono">
        {names.map((name, place) => (
          <li key={`${place} ${name}`}>{name}</li>
        ))}
      </ul>
    </FormDialog>
  );
}

/** A button that opens a question, and acts when the operator confirms. */
export function ConfirmButton(question: Omit<ConfirmProps, 'onClose'>) {
  return (
    <DialogButton
      kind={question.isDanger === true ? 'risky' : 'normal'}
      dialog={(onClose) => <Confirm {...question} onClose={onClose} />}
    >
      {question.action}
    </DialogButton>
  );
}
