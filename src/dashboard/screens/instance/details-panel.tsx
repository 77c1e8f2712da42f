/** The facts of the instance, and its environment with the secrets covered. */
import { useSignal } from '@preact/signals';
import type { InstanceDetails } from '../../../api/routes/instances/instance-details.js';
import type { Configuration } from '../../../model/configuration.js';
import type { InstanceInfo } from '../../../model/instance.js';
import { looksSecret } from '../../../model/plain/may-be-secret.js';
import { ApiFailure, apiPath } from '../../api/api-client.js';
import { addressOf, cores, count, megabytes, NOTHING } from '../../parts/amounts.js';
import { Button, putting } from '../../parts/button.js';
import { CopyValue } from '../../parts/copy-button.js';
import { Failure } from '../../parts/notes.js';
import { Fact, Panel } from '../../parts/page.js';
import { Time } from '../../parts/time.js';
import { hrefOf } from '../../router/place.js';
import { useGot, useRound } from '../../services/services.js';
import { text } from './text.js';

export function DetailsPanel({ instance }: { readonly instance: InstanceInfo }) {
  return (
    <div class="columns">
      <InstanceFacts instance={instance} />
      <Environment instance={instance} />
    </div>
  );
}

function InstanceFacts({ instance }: { readonly instance: InstanceInfo }) {
  const { id, configurationName, allocatedCpu, processPid, createdAt, wrapperNodeId: node } = instance;
  const address = addressOf(instance);
  const path = apiPath('instances', id, 'details');
  const asked = useGot<InstanceDetails>(path, [instance.configurationRevision, useRound()]);
  const templates = asked.value.value?.templates ?? [];
  const ram = megabytes(instance.allocatedRamMB);
  return (
    <Panel title={text.details.facts}>
      <dl class="facts">
        <Fact name={text.details.id}>
          <CopyValue value={id} />
        </Fact>
        <Fact name={text.details.configuration}>
          <a href={hrefOf(['configurations', configurationName])}>{configurationName}</a>
        </Fact>
        <Fact name={text.details.node}>
          {node === undefined ? text.details.notPlaced : <a href={hrefOf(['nodes', node])}>{node}</a>}
        </Fact>
        <Fact name={text.details.address}>{address === '' ? NOTHING : <CopyValue value={address} />}</Fact>
        {instance.ports !== undefined && <Fact name={text.details.ports}>{instance.ports}</Fact>}
        <Fact name={text.details.runtime}>{instance.runtime}</Fact>
        <Fact name={text.details.process}>
          {processPid === null ? text.details.noProcess : <CopyValue value={String(processPid)} />}
        </Fact>
        <Fact name={text.details.reserved}>{allocatedCpu > 0 ? `${ram}, ${cores(allocatedCpu)}` : ram}</Fact>
        <Fact name={text.details.restarts}>{count(instance.restarts)}</Fact>
        <Fact name={text.details.age}>
          <Time at={createdAt} />
        </Fact>
        {templates.length > 0 && (
          <Fact name={text.details.templates}>
            {templates.map(({ group, name, digest, isCurrent }) => (
              <div key={`${group}/${name}`}>
                <a href={hrefOf(['templates', group, name])}>{`${group}/${name}`}</a>
                {digest !== null && <span class="mono"> {digest}</span>} {text.details.version(isCurrent)}
              </div>
            ))}
          </Fact>
        )}
      </dl>
      {asked.value.value?.isRevisionCurrent === false && <p class="panel-note">{text.details.old}</p>}
      {instance.warning !== null && <p class="panel-note">{instance.warning}</p>}
    </Panel>
  );
}

function Environment({ instance }: { readonly instance: InstanceInfo }) {
  const { configurationName, configurationRevision } = instance;
  const path = apiPath('configurations', configurationName);
  const asked = useGot<Configuration>(path, [configurationRevision]);
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
  const isCovered = looksSecret(name, value);
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>
        <bdi>{isCovered && !isShown.value ? text.details.hidden : value}</bdi>
        {isCovered && (
          <Button
            kind="quiet"
            hint={isShown.value ? text.details.hideOf(name) : text.details.showOf(name)}
            onPress={putting(isShown, !isShown.value)}
          >
            {isShown.value ? text.details.hide : text.details.show}
          </Button>
        )}
      </td>
    </tr>
  );
}

function droverVariables(instance: InstanceInfo): (readonly [string, string])[] {
  const { id, configurationName, wrapperNodeId = NOTHING, allocatedPort, ports = '' } = instance;
  return [
    ['DROVER_INSTANCE_ID', id],
    ['DROVER_CONFIGURATION', configurationName],
    ['DROVER_NODE_ID', wrapperNodeId],
    ...(allocatedPort === undefined
      ? []
      : [['DROVER_PORT', `${allocatedPort}`] as const, ['PORT', `${allocatedPort}`] as const]),
    ...[...ports.matchAll(/(\S+)=(\d+)/g)].map(
      ([, name = '', port = '']) => [`DROVER_PORT_${name.toUpperCase().replaceAll('-', '_')}`, port] as const,
    ),
    ['DROVER_API_KEY', text.details.ownKey],
  ];
}
