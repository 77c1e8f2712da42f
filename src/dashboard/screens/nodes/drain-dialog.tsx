/** Asks before a drain, and how long the drain waits for players. */
import { useSignal } from '@preact/signals';
import { Button, Submit } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { Form } from '../../parts/form.js';
import { Choice } from '../../parts/forms/choice.js';
import { useSubmit } from '../../parts/forms/use-submit.js';
import { text as parts } from '../../parts/text.js';
import { text } from './text.js';

interface DrainDialogProps {
  readonly nodeId: string;
  readonly onDrain: (deadlineSeconds: number) => Promise<void>;
  readonly onClose: () => void;
}

export function DrainDialog({ nodeId, onDrain, onClose }: DrainDialogProps) {
  const seconds = useSignal(text.deadlines[0]?.value ?? '600');
  const { isBusy, problem, submit } = useSubmit(async () => {
    await onDrain(Number(seconds.value));
    onClose();
  });
  return (
    <Dialog title={text.drainTitle(nodeId)} onClose={onClose}>
      <p>{text.drainExplain}</p>
      <Form
        problem={problem}
        onSubmit={submit}
        foot={
          <>
            <Button onPress={onClose}>{parts.cancel}</Button>
            <Submit isBusy={isBusy}>{text.drain}</Submit>
          </>
        }
      >
        <Choice
          label={text.deadline}
          hint={text.deadlineHint}
          value={seconds.value}
          options={text.deadlines}
          onChange={(value) => {
            seconds.value = value;
          }}
        />
      </Form>
    </Dialog>
  );
}
