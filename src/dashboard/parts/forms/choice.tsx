/** A labelled choice of a form. */
import { Field } from '../form.js';

interface ChoiceProps {
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
  readonly onChange: (value: string) => void;
}

export function Choice({ label, hint, value, options, onChange }: ChoiceProps) {
  return (
    <Field label={label} {...(hint !== undefined && { hint })}>
      {(ids) => (
        <select
          {...ids}
          class="input"
          value={value}
          onChange={(event) => onChange(event.currentTarget.value)}
        >
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
