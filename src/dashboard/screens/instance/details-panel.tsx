/** The facts of the instance, and its environment with the secrets covered. */
import { useSignal } from '@preact/signals';
import type { InstanceDetails } from '../../../api/routes/instances/instance-details.js';
import type { Configuration } from '../../../model/configuration.js';
import type { InstanceInfo } from '../../../model/instance.js';
import { ApiFailure, apiPath } from '../../api/api-client.js';
import { cores, count, megabytes } from '../../parts/amounts.js';
import { Button } from '../../parts/button.js';
import { Failure } from '../../parts/failure.js';
import { Panel } from '../../parts/page.js';
import { Time } from '../../parts/time.js';
import { useAsked } from '../../services/use-live.js';
import { isSecret } from './secrets.js';
import { text } from './text.js';

const NOTHING = '–';

export function DetailsPanel({ instance }: { readonly instance: InstanceInfo }) {
  return (
    <div class="columns">
      <Facts instance={instance} />
      <Environment instance={instance} />
    </div>
  );
}

function Facts({ instance }: { readonly instance: InstanceInfo }) {
  const { id, configurationName, hostAddress, allocatedPort, processPid, createdAt } = instance;
  const asked = useAsked(
    (api, signal) => api.get<InstanceDetails>(apiPath('instances', id, 'details'), { signal }),
    [id, instance.configurationRevision],
  );
  const address = allocatedPort === undefined ? (hostAddress ?? NOTHING) : `${hostAddress}:${allocatedPort}`;
  return (
    <Panel title={text.details.facts}>
      <dl class="facts">
        <dt>{text.details.configuration}</dt>
        <dd>{configurationName}</dd>
        <dt>{text.details.node}</dt>
        <dd>{instance.wrapperNodeId ?? text.details.notPlaced}</dd>
        <dt>{text.details.address}</dt>
        <dd>{address}</dd>
        <dt>{text.details.runtime}</dt>
        <dd>{instance.runtime}</dd>
        <dt>{text.details.process}</dt>
        <dd>{processPid ?? text.details.noProcess}</dd>
        <dt>{text.details.reserved}</dt>
        <dd>
          {megabytes(instance.allocatedRamMB)}
          {instance.allocatedCpu > 0 && `, ${cores(instance.allocatedCpu)}`}
        </dd>
        <dt>{text.details.restarts}</dt>
        <dd>{count(instance.restarts)}</dd>
        <dt>{text.details.age}</dt>
        <dd>
          <Time at={createdAt} />
        </dd>
      </dl>
      {asked.value.value?.isRevisionCurrent === false && <p class="panel-note">{text.details.old}</p>}
      {instance.warning !== null && <p class="panel-note">{instance.warning}</p>}
    </Panel>
  );
}

function Environment({ instance }: { readonly instance: InstanceInfo }) {
  const { configurationName, configurationRevision } = instance;
  const asked = useAsked(
    (api, signal) => api.get<Configuration>(apiPath('configurations', configurationName), { signal }),
    [configurationName, configurationRevision],
  );
  const { value, error } = asked.value;
  const isRemoved = error instanceof ApiFailure && error.status === 404;
  const own = Object.entries<string | undefined>(value?.environmentVariables ?? {});
  return (
    <Panel title={text.details.environment}>
      {error !== null && !isRemoved && <Failure error={error} onRetry={asked.again} />}
      <p class="panel-note quiet">{isRemoved ? text.details.removed : text.details.environmentHint}</p>
      <table class="environment">
        <thead>
          <tr>
            <th scope="col">{text.details.name}</th>
            <th scope="col">{text.details.value}</th>
          </tr>
        </thead>
        <tbody>
          {own.map(([name, content]) => (
            <Variable key={name} name={name} value={content ?? ''} />
          ))}
          {droverVariables(instance).map(([name, content]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>
                {content} <span class="quiet">{text.details.fromDrover}</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

function Variable({ name, value }: { readonly name: string; readonly value: string }) {
  const isShown = useSignal(false);
  const isCovered = isSecret(name, value);
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>
        <bdi>{isCovered && !isShown.value ? text.details.hidden : value}</bdi>
        {isCovered && (
          <Button
            kind="quiet"
            hint={isShown.value ? text.details.hideOf(name) : text.details.showOf(name)}
            onPress={() => {
              isShown.value = !isShown.value;
            }}
          >
            {isShown.value ? text.details.hide : text.details.show}
          </Button>
        )}
      </td>
    </tr>
  );
}

function droverVariables(instance: InstanceInfo): (readonly [string, string])[] {
  const { id, configurationName, wrapperNodeId = NOTHING, allocatedPort } = instance;
  return [
    ['DROVER_INSTANCE_ID', id],
    ['DROVER_CONFIGURATION', configurationName],
    ['DROVER_NODE_ID', wrapperNodeId],
    ...(allocatedPort === undefined
      ? []
      : [['DROVER_PORT', `${allocatedPort}`] as const, ['PORT', `${allocatedPort}`] as const]),
    ['DROVER_API_KEY', text.details.ownKey],
  ];
}
