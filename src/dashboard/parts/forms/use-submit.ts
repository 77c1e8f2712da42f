/** Sends a form: one call at a time, and the reason when it failed. */
import { useSignal } from '@preact/signals';

interface Submission {
  readonly isBusy: boolean;
  /** Why the last try failed; null: it did not. */
  readonly problem: unknown;
  readonly submit: () => void;
}

export function useSubmit(action: () => Promise<void>): Submission {
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
    submit: () => {
      if (!isBusy.peek()) void run();
    },
  };
}
