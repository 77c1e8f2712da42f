/** The sign-in with a key. It says why the former session has ended, if there was one. */
import { useSignal } from '@preact/signals';
import { Submit } from '../../parts/button.js';
import { Form, TextInput } from '../../parts/form.js';
import { useServices } from '../../services/services.js';
import { text } from './text.js';

export function SignIn({ reason }: { readonly reason: string | null }) {
  const { session } = useServices();
  const key = useSignal('');
  const problem = useSignal<unknown>(null);
  const isMissing = useSignal(false);
  const isBusy = useSignal(false);
  const signIn = async (): Promise<void> => {
    isMissing.value = key.value.trim() === '';
    if (isMissing.value) return;
    isBusy.value = true;
    problem.value = null;
    try {
      await session.signIn(key.value.trim());
    } catch (error) {
      problem.value = error;
    } finally {
      isBusy.value = false;
    }
  };
  return (
    <main class="center">
      <div class="sign-in">
        <h1>{text.title}</h1>
        {reason !== null && (
          <p class="sign-in-reason" role="status">
            {reason}
          </p>
        )}
        <Form
          problem={problem.value}
          onSubmit={() => void signIn()}
          foot={<Submit isBusy={isBusy.value}>{text.signIn}</Submit>}
        >
          <TextInput
            label={text.key}
            isSecret
            isMono
            hasFocus
            value={key.value}
            error={isMissing.value ? text.noKey : null}
            hint={text.keyHint}
            onInput={(value) => {
              key.value = value;
            }}
          />
        </Form>
        <p class="quiet">{text.privacy}</p>
      </div>
    </main>
  );
}
