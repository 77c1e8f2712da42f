/** A rollout that is not complete: its progress, what holds it up, and the actions on it. */
import { useSignal } from '@preact/signals';
import type { ShownRollout } from '../../../operations/rollouts/rollouts.js';
import { apiPath } from '../../api/api-client.js';
import { Button, ButtonLink } from '../../parts/button.js';
import { Meter } from '../../parts/meter.js';
import { Panel } from '../../parts/page.js';
import { Badge, type Tone } from '../../parts/state-badge.js';
import { withCommands } from '../../parts/words/with-commands.js';
import { hrefOf } from '../../router/place.js';
import { useServices } from '../../services/services.js';
import { text } from './text.js';

type Action = keyof typeof text.rolloutActions;

const SHOWN: Readonly<
  Record<ShownRollout['state'], { readonly tone: Tone; readonly actions: readonly Action[] }>
> = {
  rolling: { tone: 'busy', actions: ['pause'] },
  'awaiting-promotion': { tone: 'busy', actions: ['promote', 'pause'] },
  paused: { tone: 'still', actions: ['resume'] },
  failed: { tone: 'bad', actions: ['retry'] },
  'rolling-back': { tone: 'bad', actions: ['pause'] },
  'rolled-back': { tone: 'still', actions: ['retry'] },
  complete: { tone: 'good', actions: [] },
};

export function RolloutPanel({ rollout }: { readonly rollout: ShownRollout }) {
  const { api, session, toasts } = useServices();
  const askedIn = useSignal<ShownRollout['state'] | null>(null);
  const { configurationName: name, state, counts, message, isHeldBack, failure } = rollout;
  const isPending = askedIn.value === state;
  const ask = async (action: Action): Promise<void> => {
    if (isPending) return;
    askedIn.value = state;
    await toasts.run(api.post(apiPath('rollouts', name, action)), () => text.rolloutAsked[action]);
    askedIn.value = null;
  };
  const badge = <Badge tone={SHOWN[state].tone} label={text.rolloutStates[state]} isPending={isPending} />;
  return (
    <Panel title={text.rollout} about={badge}>
      <div class="panel-text">
        {counts.total > 0 && (
          <Meter
            label={text.rolloutGood}
            value={counts.good}
            most={counts.total}
            text={text.rolloutProgress(counts)}
          />
        )}
        {message !== null && (
          <p>
            <bdi>{withCommands(message)}</bdi>
          </p>
        )}
        {failure !== undefined && (
          <>
            <p>
              {text.rolloutLog} <a href={hrefOf(['instances', failure.instance])}>{failure.instance}</a>
            </p>
            {failure.lines.length > 0 && <pre class="output shown-once">{failure.lines.join('\n')}</pre>}
          </>
        )}
        {isHeldBack && <p>{text.rolloutHeldBack}</p>}
        {session.can('OPERATE') && (
          <p class="inline">
            {SHOWN[state].actions.map((action) => (
              // Pause and resume share a key, so that they are one button that keeps the focus.
              <Button key={action === 'resume' ? 'pause' : action} onPress={() => void ask(action)}>
                {text.rolloutActions[action]}
              </Button>
            ))}
            <ButtonLink href={hrefOf(['configurations', name, 'history'])}>{text.rollBack}</ButtonLink>
          </p>
        )}
      </div>
    </Panel>
  );
}
