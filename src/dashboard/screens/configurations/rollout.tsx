/** A rollout that is not complete: its progress, what holds it up, and the actions on it. */
import { useSignal } from '@preact/signals';
import type { InstanceInfo } from '../../../model/instance.js';
import type { ShownRollout } from '../../../operations/rollouts/rollouts.js';
import { apiPath } from '../../api/api-client.js';
import { Button, ButtonLink } from '../../parts/button.js';
import { Meter } from '../../parts/meter.js';
import { Panel } from '../../parts/page.js';
import { Badge, type Tone } from '../../parts/state-badge.js';
import { withCommands } from '../../parts/words/with-commands.js';
import { hrefOf } from '../../router/place.js';
import { useEntries, useServices } from '../../services/services.js';
import { text } from './text.js';

interface RolloutProps {
  readonly rollout: ShownRollout;
}

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

const MOST_CELLS = 200;
const CELL_TONES = { old: 'still', new: 'busy', good: 'good' } as const;

/** The instances as cells: old ones, new ones, and those that are good. Each leads to its instance. */
function Cells({ rollout }: RolloutProps) {
  const { configurationName, from, to, isHeldBack, state, cause, counts, since } = rollout;
  const isRemade = cause === 'restart' || cause === 'templates';
  // A rollout that failed leaves the instances as they are: its own content is the new one, and none of it is healthy.
  const isFailed = state === 'failed';
  let good = isFailed ? 0 : counts.good;
  const kindOf = (one: InstanceInfo): keyof typeof CELL_TONES => {
    const isOther = one.configurationRevision !== (isHeldBack && !isFailed ? from : to);
    // A restart keeps the content, and a way back finds instances that have it: those created before are old.
    const isOlder = one.createdAt < since;
    if (isOther || (isRemade && isOlder)) return 'old';
    if (one.state === 'ONLINE' && good-- > 0) return 'good';
    return isHeldBack && isOlder ? 'old' : 'new';
  };
  const own = [...useEntries('instances').values()].filter(
    (one) => one.configurationName === configurationName && one.state !== 'STOPPED',
  );
  return (
    <ul class="inline" aria-label={text.rolloutCells}>
      {own
        .sort((a, b) => a.createdAt - b.createdAt)
        .slice(0, MOST_CELLS)
        .map((one) => ({ id: one.id, kind: kindOf(one) }))
        .map(({ id, kind }) => (
          <li key={id}>
            <a href={hrefOf(['instances', id])} title={id}>
              <Badge tone={CELL_TONES[kind]} label={text.rolloutCell[kind]} />
            </a>
          </li>
        ))}
    </ul>
  );
}

export function RolloutPanel({ rollout }: RolloutProps) {
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
        <Cells rollout={rollout} />
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
