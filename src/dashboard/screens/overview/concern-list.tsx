/** The concerns as rows: the verdict of the server, what happens next, and the next step as a button. */
import { useSignal } from '@preact/signals';
import type { Concern } from '../../../explain/concerns.js';
import type { InstanceExplanation } from '../../../explain/explanation.js';
import { countedDown } from '../../../model/plain/counted-down.js';
import { Button, ButtonLink } from '../../parts/button.js';
import { Icon } from '../../parts/icon.js';
import { performAction } from '../../parts/pending-actions.js';
import { Time } from '../../parts/time.js';
import { withCommands } from '../../parts/words/with-commands.js';
import { useAsked, useRound, useServices } from '../../services/services.js';
import { hrefOfConcern, iconOf, type Step, stepsOf, whyPathOf } from './attention.js';
import { text } from './text.js';

/** The most rows; further concerns are counted. Nobody reads 1,000 rows, and the tables have them all. */
const MOST = 30;
/** How many concerns get an explanation. Each explanation asks a node. */
const MOST_EXPLAINED = 10;

type Told = Pick<InstanceExplanation, 'verdict' | 'next' | 'advice'> &
  Partial<Pick<InstanceExplanation, 'exits'>>;

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
  const { session, clock } = useServices();
  const { tone, name, word, text: sentence, since } = concern;
  const path = isExplained ? whyPathOf(concern) : null;
  // Ask again when the sentence changes: the new sentence needs a new explanation.
  const asked = useAsked(
    async (api, signal) => ({
      sentence,
      // The thing may be gone: then the row shows its sentence only.
      told: path === null ? null : await api.get<Told>(path, { signal }).catch(() => null),
      at: Date.now(),
    }),
    [path, sentence, useRound()],
  );
  const { value } = asked.value;
  // Show no explanation of an earlier sentence. The new sentence stands alone until its own explanation arrives.
  const told = value?.sentence === sentence ? value.told : null;
  // The name stands before the verdict as a link.
  const verdict = (told?.verdict ?? sentence).replace(`${name} `, '').replace(`(${name}) `, '');
  // The buttons stand in place of the commands.
  const sentences = [told?.next, told?.advice].flatMap((part) => part?.split(/(?<=\.) /) ?? []);
  const more = sentences.filter((one) => !one.includes('`')).join(' ');
  const lastLine = told?.exits?.[0]?.lastLines.at(-1);
  const href = hrefOfConcern(concern);
  return (
    <li class="concern">
      <strong class={`with-icon tone-${tone}`}>
        <Icon name={iconOf(concern)} />
        {word}
      </strong>
      <div>
        <p>
          <strong>{href === null ? name : <a href={href}>{name}</a>}</strong>{' '}
          {withCommands(countedDown(verdict, clock.value - (value?.at ?? 0)))}
          {since !== null && (
            <span class="quiet">
              {' '}
              <Time at={since} />
            </span>
          )}
        </p>
        {lastLine !== undefined && <p class="cut concern-line mono">{lastLine}</p>}
        {more !== '' && <p class="quiet">{more}</p>}
      </div>
      <div class="inline">
        {stepsOf(concern, session.can('OPERATE')).map((step) => (
          <StepButton key={step.kind === 'open' ? step.href : step.id} step={step} />
        ))}
      </div>
    </li>
  );
}

function StepButton({ step }: { readonly step: Step }) {
  const { api, toasts } = useServices();
  const isBusy = useSignal(false);
  if (step.kind === 'open')
    return (
      <ButtonLink href={step.href}>
        <Icon name={step.icon} />
        {step.label}
      </ButtonLink>
    );
  const restart = async (): Promise<void> => {
    isBusy.value = true;
    await toasts.run(performAction(api, 'restart', step.id), () => text.restarted(step.id));
    isBusy.value = false;
  };
  return (
    <Button kind="main" isBusy={isBusy.value} onPress={() => void restart()}>
      <Icon name="restart" />
      {text.restart}
    </Button>
  );
}
