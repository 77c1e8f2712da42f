/** The changes that callers made to a configuration beside its file, and the way back to the file. */
import type { ListedOverrides } from '../../../operations/configuration-overrides.js';
import { apiPath } from '../../api/api-client.js';
import { NOTHING } from '../../parts/amounts.js';
import { Button } from '../../parts/button.js';
import { Fact, Panel } from '../../parts/page.js';
import { Badge } from '../../parts/state-badge.js';
import { Time } from '../../parts/time.js';
import { useGot, useServices } from '../../services/services.js';
import { text } from './text.js';

interface OverridesPanelProps {
  readonly name: string;
  readonly revision: string | undefined;
}

/** `revision`: of the content in force; another one asks anew. Shows nothing where there is no override. */
export function OverridesPanel({ name, revision }: OverridesPanelProps) {
  const { api, session, toasts } = useServices();
  const asked = useGot<ListedOverrides>('/configuration-overrides', [name, revision]);
  const all = asked.value.value?.overrides.filter((one) => one.configurationName === name) ?? [];
  const fields = all.filter(({ field }) => field !== null);
  if (all.length === 0) return null;
  const reset = async (field?: string): Promise<void> => {
    await toasts.run(
      api.post(apiPath('configurations', name, 'reset'), { body: { field } }),
      () => text.wasReset,
    );
    asked.again();
  };
  const isRemoved = all.some(({ is }) => is === 'absent');
  const mayReset = session.can('CONFIGURE') && (isRemoved || fields.length > 0);
  const whole = isRemoved ? text.removedHere : text.madeHere;
  const badge = <Badge tone="busy" label={fields.length === 0 ? whole : text.overridden(fields.length)} />;
  return (
    <Panel title={text.overrides} about={badge}>
      <dl class="facts">
        {fields.map((one) => (
          <Fact key={one.field} name={one.field ?? ''}>
            <bdi class="mono">{`${one.fileValue ?? NOTHING} → ${one.value ?? NOTHING}`}</bdi>{' '}
            <span class="quiet">
              {one.isManaged ? text.managed : text.setBy(one.by ?? NOTHING)} <Time at={one.at} />{' '}
              <bdi>{one.reason}</bdi>
            </span>{' '}
            {mayReset && (
              <Button onPress={() => void reset(one.field ?? undefined)}>{text.resetField}</Button>
            )}
          </Fact>
        ))}
      </dl>
      {mayReset && (
        <p class="panel-text">
          <Button onPress={() => void reset()}>{text.resetAll}</Button>
        </p>
      )}
    </Panel>
  );
}
