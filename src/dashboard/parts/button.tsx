/** A button, and a link that looks like one. Both always have a word. */
import type { ComponentChildren } from 'preact';

export type ButtonKind = 'normal' | 'main' | 'danger' | 'quiet';

interface ButtonProps {
  readonly children: ComponentChildren;
  readonly onPress: () => void;
  readonly kind?: ButtonKind;
  /** True while the action runs: the button takes no second press and says that it is busy. */
  readonly isBusy?: boolean;
  readonly isDisabled?: boolean;
  /** A longer text than the word, for the pointer and for screen readers. */
  readonly hint?: string;
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

interface SubmitProps {
  readonly children: ComponentChildren;
  readonly kind?: ButtonKind;
  readonly isBusy?: boolean;
  readonly isDisabled?: boolean;
}

/** The button that sends the form around it. */
export function Submit({ children, kind = 'main', isBusy = false, isDisabled = false }: SubmitProps) {
  return (
    <button type="submit" class={`button button-${kind}`} disabled={isBusy || isDisabled} aria-busy={isBusy}>
      {children}
    </button>
  );
}

interface ButtonLinkProps {
  readonly children: ComponentChildren;
  readonly href: string;
  readonly kind?: ButtonKind;
}

export function ButtonLink({ children, href, kind = 'normal' }: ButtonLinkProps) {
  return (
    <a class={`button button-${kind}`} href={href}>
      {children}
    </a>
  );
}
