/** A rollout that is not complete: how far it is, what holds it up, and what can be asked of it. */
import { apiPath } from '../../api/api-client.js';
import type { Rollout } from '../../api/api-types.js';
import { Button } from '../../parts/button.js';
import { Meter } from '../../parts/meter.js';
import { Panel } from '../../parts/page.js';
import { Badge, type Tone } from '../../parts/state-badge.js';
import { useServices } from '../../services/services.js';
import { useEntries } from '../../services/use-live.js';
import { text } from './text.js';

const TONES: Readonly<Record<Rollout['state'], Tone>> = {
  rolling: 'busy',
  'awaiting-promotion': 'busy',
  paused: 'still',
  failed: 'bad',
  'rolling-back': 'bad',
  'rolled-back': 'still',
  complete: 'good',
};

type Action = keyof typeof text.rolloutActions;

const ACTIONS: Readonly<Record<Rollout['state'], readonly Action[]>> = {
  rolling: ['pause'],
  'awaiting-promotion': ['promote', 'pause'],
  paused: ['resume'],
  failed: ['retry'],
  'rolling-back': ['pause'],
  'rolled-back': ['retry'],
  complete: [],
};

export function RolloutPanel({ name }: { readonly name: string }) {
  const { api, session, toasts } = useServices();
  const rollout = useEntries('rollouts').get(name);
  if (rollout === undefined || rollout.state === 'complete') return null;
  const { state, counts, message, isHeldBack } = rollout;
  const ask = (action: Action): void =>
    void toasts.run(api.post<Rollout>(apiPath('rollouts', name, action)), () => text.rolloutAsked[action]);
  return (
    <Panel title={text.rollout} about={<Badge tone={TONES[state]} label={text.rolloutStates[state]} />}>
      <div class="configuration-why">
        <Meter
          label={text.rolloutGood}
          value={counts.good}
          most={counts.total}
          text={text.rolloutProgress(counts)}
        />
        {message !== null && (
          <p>
            <bdi>{message}</bdi>
          </p>
        )}
        {isHeldBack && <p>{text.rolloutHeldBack}</p>}
        {session.can('OPERATE') && (
          <p class="configuration-rollout-actions">
            {ACTIONS[state].map((action) => (
              <Button key={action} onPress={() => ask(action)}>
                {text.rolloutActions[action]}
              </Button>
            ))}
          </p>
        )}
      </div>
    </Panel>
  );
}
