/** A form with labelled fields and a foot. A field shows its error below itself. */
import { type Signal, useSignal } from '@preact/signals';
import { type ComponentChildren, createContext, type TargetedInputEvent } from 'preact';
import { useContext, useEffect, useId, useRef } from 'preact/hooks';
import { useServices } from '../services/services.js';
import { Button, Submit } from './button.js';
import { Failure } from './notes.js';
import { text } from './text.js';

export interface FormProps {
  readonly children: ComponentChildren;
  /** The word on the button that sends. */
  readonly action: string;
  readonly isDanger?: boolean;
  readonly isDisabled?: boolean;
  /** True while a field has a fault: the form is not sent, and from the first try on its fields show their faults. */
  readonly isFaulty?: boolean;
  /** Sends the form. When it rejects, the form stays and shows why. */
  readonly onSubmit: () => Promise<void>;
  /** Called by the button that cancels. Absent: the form has no such button. */
  readonly onClose?: () => void;
}

/** The context of a form: true after the person has tried to send it. */
const WasTried = createContext(false);

export function Form({ children, action, isDanger, isDisabled, isFaulty, onSubmit, onClose }: FormProps) {
  const wasTried = useSignal(false);
  const { isBusy, problem, submit } = useSubmit(async () => {
    wasTried.value = true;
    if (isFaulty !== true) await onSubmit();
  });
  return (
    <PlainForm
      problem={problem}
      onSubmit={submit}
      foot={
        <>
          {onClose !== undefined && <Button onPress={onClose}>{text.cancel}</Button>}
          <Submit
            kind={isDanger === true ? 'danger' : 'main'}
            isBusy={isBusy}
            isDisabled={isDisabled === true}
          >
            {action}
          </Submit>
        </>
      }
    >
      <WasTried.Provider value={wasTried.value}>{children}</WasTried.Provider>
    </PlainForm>
  );
}

interface PlainFormProps {
  readonly children: ComponentChildren;
  /** The buttons; the one that sends comes last. */
  readonly foot: ComponentChildren;
  readonly onSubmit: () => void;
  /** Why the last try failed; null: no try has failed. */
  readonly problem: unknown;
}

/** A form that brings its own buttons. `onSubmit` runs the action, and `problem` says why it failed. */
export function PlainForm({ children, foot, onSubmit, problem }: PlainFormProps) {
  return (
    <form
      class="d-grid gap-4"
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

/** Runs one call of `action` at a time. `problem`: why the last call failed; null: the last call did not fail. */
export function useSubmit(action: () => Promise<void>) {
  const isBusy = useSignal(false);
  const problem = useSignal<unknown>(null);
  const run = async (): Promise<void> => {
    isBusy.value = true;
    problem.value = null;
    try {
      await action();
    } catch (error) {
      problem.value = error;
    } finally {
      isBusy.value = false;
    }
  };
  return {
    isBusy: isBusy.value,
    problem: problem.value,
    submit: (): void => {
      if (!isBusy.peek()) void run();
    },
  };
}

interface FieldProps {
  readonly label: string;
  /** The text below the field while there is no error: form, unit, default. */
  readonly hint?: string | undefined;
  readonly error?: string | null;
  /** Renders the input with these ids, so that label, hint and error belong to it. */
  readonly children: (ids: { readonly id: string; readonly 'aria-describedby': string }) => ComponentChildren;
}

export function Field({ label, hint, error = null, children }: FieldProps) {
  const id = useId();
  const aboutId = `${id}-about`;
  return (
    <div class="field d-grid gap-1">
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
  /** The text; the input writes it with each letter. */
  readonly value: Signal<string>;
  readonly hint?: string;
  /** Why the text is refused; null: the text is good. Shown once the person has tried to send the form. */
  readonly fault?: string | null;
  /** True when the input shows dots instead of the text. */
  readonly isSecret?: boolean;
  /** The keyboard that a phone shows. */
  readonly inputMode?: 'text' | 'numeric';
  readonly isMono?: boolean;
  readonly hasFocus?: boolean;
}

export function TextInput({ label, hint, fault = null, value, ...input }: TextInputProps) {
  const { isSecret = false, inputMode = 'text', isMono = false, hasFocus = false } = input;
  const error = useContext(WasTried) ? fault : null;
  const element = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (hasFocus) element.current?.focus();
  }, [hasFocus]);
  const common = {
    ref: element,
    class: isMono ? 'input mono' : 'input',
    value: value.value,
    inputMode,
    'aria-invalid': error !== null,
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: false,
    onInput: (event: TargetedInputEvent<HTMLInputElement>) => {
      value.value = event.currentTarget.value;
    },
  } as const;
  return (
    <Field label={label} hint={hint} error={error}>
      {(ids) =>
        isSecret ? <input type="password" {...ids} {...common} /> : <input type="text" {...ids} {...common} />
      }
    </Field>
  );
}

interface TickProps {
  readonly label: string;
  readonly hint?: string;
  readonly value: Signal<boolean>;
}

/** A box to tick. */
export function Tick({ label, hint, value }: TickProps) {
  const hintId = useId();
  return (
    <div class="tick">
      <label>
        <input
          type="checkbox"
          checked={value.value}
          aria-describedby={hint && hintId}
          onChange={({ currentTarget }) => {
            value.value = currentTarget.checked;
          }}
        />
        {label}
      </label>
      {hint !== undefined && (
        <p id={hintId} class="quiet">
          {hint}
        </p>
      )}
    </div>
  );
}

interface SelectProps {
  /** The name of the choice in the address. */
  readonly name: string;
  readonly label: string;
  readonly options: readonly (readonly [value: string, label: string])[];
  /** The value while the address has no known one; default ''. */
  readonly usual?: string;
}

/** A choice of a screen, with its label in the same line. The chosen value stands in the address. */
export function Select({ name, label, options, usual = '' }: SelectProps) {
  const { router } = useServices();
  const asked = router.place.value.query[name];
  const choose = (value: string): void => router.set({ [name]: value === usual ? undefined : value });
  return (
    <label class="select">
      <span class="quiet">{label}</span>
      <select
        class="input"
        value={options.some(([value]) => value === asked) ? asked : usual}
        onChange={(event) => choose(event.currentTarget.value)}
      >
        <Options options={options.map(([value, word]) => ({ value, label: word }))} />
      </select>
    </label>
  );
}

interface ChoiceProps<T extends string> {
  readonly label: string;
  readonly hint?: string;
  /** The chosen value; the choice writes it. */
  readonly value: Signal<T>;
  readonly options: readonly { readonly value: T; readonly label: string }[];
}

/** A labelled choice of a form. */
export function Choice<T extends string>({ label, hint, value, options }: ChoiceProps<T>) {
  const choose = (chosen: string): void => {
    value.value = options.find((option) => option.value === chosen)?.value ?? value.value;
  };
  return (
    <Field label={label} hint={hint}>
      {(ids) => (
        <select
          {...ids}
          class="input"
          value={value.value}
          onChange={(event) => choose(event.currentTarget.value)}
        >
          <Options options={options} />
        </select>
      )}
    </Field>
  );
}

function Options({ options }: Pick<ChoiceProps<string>, 'options'>) {
  return options.map(({ value, label }) => (
    <option key={value} value={value}>
      {label}
    </option>
  ));
}

/** A search field that filters a screen with each letter. */
interface SearchInputProps {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  /** A CSS class that places it on the screen. */
  readonly class?: string;
}

export function SearchInput({ label, hint, value, onInput, class: place = '' }: SearchInputProps) {
  return (
    <input
      class={`input ${place}`}
      type="search"
      aria-label={label}
      placeholder={hint}
      value={value}
      autocomplete="off"
      autocapitalize="off"
      spellcheck={false}
      enterkeyhint="search"
      onInput={(event) => onInput(event.currentTarget.value)}
    />
  );
}

/** The search field of a screen. Its text stands in the address, as `find`. */
export function FindInput(field: Pick<SearchInputProps, 'label' | 'hint' | 'class'>) {
  const { router } = useServices();
  const { find = '' } = router.place.value.query;
  return (
    <SearchInput
      class="find"
      {...field}
      value={find}
      onInput={(word) => router.set({ find: word || undefined })}
    />
  );
}
