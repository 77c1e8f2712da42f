/** The sign-in with a key. It says why the former session has ended, if there was one. */
import { useSignal } from '@preact/signals';
import { Form, TextInput } from '../../parts/form.js';
import { Mark } from '../../parts/icon.js';
import { useServices } from '../../services/services.js';
import { text } from './text.js';

export function SignIn({ reason }: { readonly reason: string | null }) {
  const { session } = useServices();
  const key = useSignal('');
  const token = key.value.trim();
  return (
    <main class="center">
      <div class="surface sign-in">
        <Mark />
        <h1>{text.title}</h1>
        {reason !== null && (
          <p class="notice" role="status">
            {reason}
          </p>
        )}
        <Form action={text.signIn} isFaulty={token === ''} onSubmit={() => session.signIn(token)}>
          <TextInput
            label={text.key}
            isSecret
            isMono
            hasFocus
            value={key}
            fault={token === '' ? text.noKey : null}
            hint={text.keyHint}
          />
        </Form>
        <p class="quiet">{text.privacy}</p>
      </div>
    </main>
  );
}
