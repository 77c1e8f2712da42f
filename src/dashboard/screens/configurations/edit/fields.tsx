/** The fields that people change most, as a form beside the text of a configuration. Both are views of one text. */
import { useSignal } from '@preact/signals';
import { fieldOf, isObject } from '../../../../model/json-object.js';
import { attempt } from '../../../../model/plain/attempt.js';
import { Button, Submit } from '../../../parts/button.js';
import type { EditedText } from '../../../parts/editor/edited-text.js';
import { Field } from '../../../parts/form.js';
import { textOf } from '../examples.js';
import { text as texts } from '../text.js';

const text = texts.form;
const VARIABLES = 'environmentVariables';

export function Fields({ edited }: { readonly edited: EditedText }) {
  const added = useSignal('');
  const content = attempt((): unknown => JSON.parse(edited.text.value));
  const variables = fieldOf(content, VARIABLES);
  if (!isObject(content)) return <p class="quiet">{text.noText}</p>;
  const put = (path: readonly string[], value: unknown): void =>
    edited.put(textOf(withValue(content, path, value)));
  const input = (path: readonly string[], label: string) => (
    <Field key={label} label={label}>
      {(ids) => (
        <input
          {...ids}
          class="input mono"
          value={String(path.reduce<unknown>(fieldOf, content) ?? '')}
          onInput={({ currentTarget: { value } }) => put(path, contentOf(path, value))}
        />
      )}
    </Field>
  );
  return (
    <form
      class="surface d-grid gap-4 configuration-form"
      aria-label={text.label}
      onSubmit={(event) => {
        event.preventDefault();
        const name = added.value.trim();
        // The value of a variable that is there already stays.
        if (name !== '' && fieldOf(variables, name) === undefined) put([VARIABLES, name], '');
        added.value = '';
      }}
    >
      {Object.entries(text.fields).map(([path, label]) => input(path.split('.'), label))}
      <h3>{text.variables}</h3>
      {Object.keys(isObject(variables) ? variables : {}).map((name) => (
        <div key={name} class="inline">
          {input([VARIABLES, name], name)}
          <Button kind="quiet" hint={text.removeOf(name)} onPress={() => put([VARIABLES, name], undefined)}>
            {text.remove}
          </Button>
        </div>
      ))}
      <div class="inline">
        <input
          class="input mono"
          aria-label={text.name}
          placeholder={text.name}
          value={added.value}
          onInput={({ currentTarget: { value } }) => {
            added.value = value;
          }}
        />
        <Submit kind="normal">{text.add}</Submit>
      </div>
    </form>
  );
}

/** The value in the JSON for typed text; undefined: the field goes. */
function contentOf([first]: readonly string[], typed: string): string | number | undefined {
  if (first === VARIABLES) return typed;
  return /^\s*-?\d+\s*$/.test(typed) && first !== 'readiness' ? Number(typed) : typed || undefined;
}

/** The content with another value at a path; undefined: without it, and without the block that it leaves empty. */
function withValue(content: object, [key = '', ...rest]: readonly string[], value: unknown): object {
  const inner = fieldOf(content, key);
  const next = rest.length === 0 ? value : withValue(isObject(inner) ? inner : {}, rest, value);
  const isEmpty = isObject(next) && Object.values(next).every((one) => one === undefined);
  return { ...content, [key]: isEmpty ? undefined : next };
}
