/** A form with labelled fields and a foot. A field shows its error below itself. */
import type { ComponentChildren, TargetedInputEvent } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Failure } from './failure.js';

interface FormProps {
  readonly children: ComponentChildren;
  /** The buttons; the one that sends comes last. */
  readonly foot: ComponentChildren;
  readonly onSubmit: () => void;
  /** Why the last try failed; null: it did not. */
  readonly problem?: unknown;
}

export function Form({ children, foot, onSubmit, problem = null }: FormProps) {
  return (
    <form
      class="form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
      {problem !== null && <Failure error={problem} />}
      <div class="foot">{foot}</div>
    </form>
  );
}

interface FieldProps {
  readonly label: string;
  /** A text that always stands below the field: form, unit, default. */
  readonly hint?: string;
  readonly error?: string | null;
  /** Renders the input with these ids, so that label, hint and error belong to it. */
  readonly children: (ids: { readonly id: string; readonly 'aria-describedby': string }) => ComponentChildren;
}

export function Field({ label, hint, error = null, children }: FieldProps) {
  const id = useId();
  const aboutId = `${id}-about`;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': aboutId })}
      <p id={aboutId} class={error === null ? 'quiet' : 'field-error'}>
        {error ?? hint}
      </p>
    </div>
  );
}

interface TextInputProps {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly hint?: string;
  readonly error?: string | null;
  /** True when the input shows dots instead of the text. */
  readonly isSecret?: boolean;
  /** The keyboard that a phone shows. */
  readonly inputMode?: 'text' | 'numeric' | 'decimal' | 'search';
  readonly isMono?: boolean;
  readonly hasFocus?: boolean;
}

export function TextInput({ label, hint, error, ...input }: TextInputProps) {
  const { value, onInput, isSecret = false, inputMode = 'text', isMono = false, hasFocus = false } = input;
  const element = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (hasFocus) element.current?.focus();
  }, [hasFocus]);
  const common = {
    ref: element,
    class: isMono ? 'input mono' : 'input',
    value,
    inputMode,
    'aria-invalid': error != null,
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: false,
    onInput: (event: TargetedInputEvent<HTMLInputElement>) => onInput(event.currentTarget.value),
  } as const;
  return (
    <Field label={label} {...(hint !== undefined && { hint })} {...(error !== undefined && { error })}>
      {(ids) =>
        isSecret ? <input type="password" {...ids} {...common} /> : <input type="text" {...ids} {...common} />
      }
    </Field>
  );
}

interface SelectProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
  readonly onChange: (value: string) => void;
}

/** A choice with its label in the same line, for bars above tables. */
export function Select({ label, value, options, onChange }: SelectProps) {
  return (
    <label class="select">
      <span class="quiet">{label}</span>
      <select class="input" value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </label>
  );
}
