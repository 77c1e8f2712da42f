/** A button, and a link that looks like one. Both always have a word. */
import type { Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';

export type ButtonKind = 'normal' | 'main' | 'danger' | 'risky' | 'quiet';

export interface ButtonProps {
  readonly children: ComponentChildren;
  readonly onPress: () => void;
  readonly kind?: ButtonKind;
  /** True while the action runs: the button takes no second press and says that it is busy. */
  readonly isBusy?: boolean;
  readonly isDisabled?: boolean;
  /** A longer text than the word, for the pointer and for screen readers. */
  readonly hint?: string | undefined;
  readonly isPressed?: boolean;
  readonly isExpanded?: boolean;
}

export function Button({ children, onPress, kind = 'normal', isBusy = false, ...more }: ButtonProps) {
  return (
    <button
      type="button"
      class={`button button-${kind}`}
      disabled={more.isDisabled === true || isBusy}
      aria-busy={isBusy}
      aria-pressed={more.isPressed}
      aria-expanded={more.isExpanded}
      title={more.hint}
      onClick={onPress}
    >
      {children}
    </button>
  );
}

type SubmitProps = Omit<ButtonProps, 'onPress'>;

/** The button that submits the form around it. */
export function Submit({ children, kind = 'main', isBusy = false, isDisabled = false }: SubmitProps) {
  return (
    <button type="submit" class={`button button-${kind}`} disabled={isBusy || isDisabled} aria-busy={isBusy}>
      {children}
    </button>
  );
}

/** A callback that gives a signal this value. */
export function putting<T>(target: Signal<T>, value: T): () => void {
  return () => {
    target.value = value;
  };
}

export function ButtonLink({ children, href }: Pick<ButtonProps, 'children'> & { readonly href: string }) {
  return (
    <a class="button" href={href}>
      {children}
    </a>
  );
}
