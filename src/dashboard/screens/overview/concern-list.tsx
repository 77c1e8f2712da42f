/** The concerns as rows: the verdict of the server, what happens next, and the next step as a button. */
import { useSignal } from '@preact/signals';
import type { Concern } from '../../../explain/concerns.js';
import type { InstanceExplanation } from '../../../explain/explanation.js';
import type { Api } from '../../api/api-client.js';
import { Button, ButtonLink } from '../../parts/button.js';
import { performAction } from '../../parts/pending-actions.js';
import { Badge } from '../../parts/state-badge.js';
import { withCommands } from '../../parts/words/with-commands.js';
import { useAsked, useServices } from '../../services/services.js';
import { type Step, stepOf, whyPathOf } from './attention.js';
import { text } from './text.js';

/** The most rows; further concerns are counted. Nobody reads 1,000 rows, and the tables have them all. */
const MOST = 30;
/** How many concerns get an explanation. Each explanation asks a node. */
const MOST_EXPLAINED = 10;

type Told = Pick<InstanceExplanation, 'verdict' | 'next' | 'advice'>;

export function ConcernList({ concerns }: { readonly concerns: readonly Concern[] }) {
  const more = concerns.length - MOST;
  return (
    <ul class="concerns">
      {concerns.slice(0, MOST).map((concern, place) => (
        <ConcernRow
          key={`${concern.kind} ${concern.name}`}
          concern={concern}
          isExplained={place < MOST_EXPLAINED}
        />
      ))}
      {more > 0 && <li class="concern quiet">{text.more(more)}</li>}
    </ul>
  );
}

function ConcernRow({ concern, isExplained }: { readonly concern: Concern; readonly isExplained: boolean }) {
  const { session } = useServices();
  const sentence = `${concern.name}: ${concern.text}`;
  const path = isExplained ? whyPathOf(concern) : null;
  const step = stepOf(concern, session.can('OPERATE'));
  // Ask again when the sentence changes: the new sentence needs a new explanation.
  const asked = useAsked(
    async (api, signal) => ({ sentence, told: path === null ? null : await explain(api, path, signal) }),
    [path, sentence],
  );
  const { value } = asked.value;
  // Show no explanation of an earlier sentence. The new sentence stands alone until its own explanation arrives.
  const told = value?.sentence === sentence ? value.told : null;
  const more = [told?.next, told?.advice].filter(Boolean).join(' ');
  return (
    <li class="concern">
      <Badge tone={concern.tone} label={concern.word} />
      <div class="concern-words">
        <p>{withCommands(told?.verdict ?? sentence)}</p>
        {more !== '' && <p class="quiet">{withCommands(more)}</p>}
      </div>
      {step !== null && <StepButton step={step} />}
    </li>
  );
}

/**
 * Asks for the explanation of a concern. Null: there is none, or the thing is gone, so the row shows its sentence
 * only.
 */
async function explain(api: Api, path: string, signal: AbortSignal): Promise<Told | null> {
  return await api.get<Told>(path, { signal }).catch(() => null);
}

function StepButton({ step }: { readonly step: Step }) {
  const { api, toasts } = useServices();
  const isBusy = useSignal(false);
  if (step.kind === 'open') return <ButtonLink href={step.href}>{step.label}</ButtonLink>;
  const restart = async (): Promise<void> => {
    isBusy.value = true;
    await toasts.run(performAction(api, 'restart', step.id), () => text.restarted(step.id));
    isBusy.value = false;
  };
  return (
    <Button isBusy={isBusy.value} onPress={() => void restart()}>
      {step.label}
    </Button>
  );
}
