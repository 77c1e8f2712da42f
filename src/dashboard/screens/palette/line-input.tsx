/** The input of the palette. It keeps the focus while the list beside it shows the choices. */
import { useEffect, useRef } from 'preact/hooks';
import { Field } from '../../parts/form.js';

interface LineInputProps {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  /** Called for each key, before the input handles it. */
  readonly onKey: (event: KeyboardEvent) => void;
  readonly isExpanded: boolean;
  /** The id of the marked choice; undefined: none. */
  readonly active: string | undefined;
}

export function LineInput({ label, hint, value, onInput, onKey, isExpanded, active }: LineInputProps) {
  const element = useRef<HTMLInputElement>(null);
  useEffect(() => element.current?.focus(), []);
  return (
    <Field label={label} hint={hint}>
      {(ids) => (
        <input
          {...ids}
          ref={element}
          type="text"
          class="input mono"
          role="combobox"
          aria-autocomplete="list"
          aria-expanded={isExpanded}
          aria-controls="palette-choices"
          aria-activedescendant={active}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
          onKeyDown={onKey}
        />
      )}
    </Field>
  );
}
