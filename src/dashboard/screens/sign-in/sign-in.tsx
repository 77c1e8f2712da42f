/** The sign-in with a key. It says why the former session has ended, if there was one. */
import { useSignal } from '@preact/signals';
import { Form, TextInput } from '../../parts/form.js';
import { useServices } from '../../services/services.js';
import { text } from './text.js';

export function SignIn({ reason }: { readonly reason: string | null }) {
  const { session } = useServices();
  const key = useSignal('');
  const wasTried = useSignal(false);
  const token = key.value.trim();
  const signIn = async (): Promise<void> => {
    wasTried.value = true;
    if (token !== '') await session.signIn(token);
  };
  return (
    <main class="center">
      <div class="sign-in">
        <h1>{text.title}</h1>
        {reason !== null && (
          <p class="notice" role="status">
            {reason}
          </p>
        )}
        <Form action={text.signIn} onSubmit={signIn}>
          <TextInput
            label={text.key}
            isSecret
            isMono
            hasFocus
            value={key}
            error={wasTried.value && token === '' ? text.noKey : null}
            hint={text.keyHint}
          />
        </Form>
        <p class="quiet">{text.privacy}</p>
      </div>
    </main>
  );
}
