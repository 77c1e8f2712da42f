/** `instance ...`. */

import type { Configuration } from '../../model/configuration.js';
import type { InstanceInfo } from '../../model/instance.js';
import type { UpdateBody, UpdatedInstance } from '../../operations/instance-update.js';
import { logPointText } from '../../operations/log-point.js';
import type { CommandRuns, InputOf, RunCall } from '../commands.js';
import { byConfiguration } from '../groups/instance-text.js';
import type { INSTANCE_COMMANDS } from '../groups/instances.js';
import { leftOf } from '../groups/left-text.js';
import { actOnInstances, type InstanceMessage, type Refusal } from '../selection/act.js';
import type { InstanceAction, KnownInstances } from '../selection/choose.js';
import type { Selecting } from '../selection/selection.js';
import { type ApiCalls, pathPart } from './api-calls.js';
import { ClientError, EXIT, isTransient } from './client-error.js';

type InstanceRuns = Pick<CommandRuns, keyof typeof INSTANCE_COMMANDS>;

export function instanceRuns(api: ApiCalls): InstanceRuns {
  const act =
    <Input extends Selecting, Done extends InstanceMessage>(
      action: InstanceAction,
      perform: (id: string, input: Input) => Promise<Done>,
    ) =>
    (input: Input, { signal, confirm }: RunCall) => {
      const known = (): Promise<KnownInstances> => knownTo(api, input);
      const host = { known, perform: (id: string) => perform(id, input), refusalOf };
      return actOnInstances(host, { action, input, signal, confirm });
    };
  const lifecycle = (target: 'start' | 'stop' | 'restart') =>
    act(target, async (id): Promise<InstanceMessage & { readonly target: string }> => {
      // The route that changes it calls an unknown id a bad request.
      await api.get(instancePath(id));
      return api.send('PATCH', `${instancePath(id)}/lifecycle?target=${target}`);
    });
  return {
    'instance list': async ({ configuration, left }) => {
      if (left === true) return leftOf(await api.get('/cluster/left-directories'), configuration);
      const all = await api.get<InstanceInfo[]>('/instances');
      const found = all
        .filter(({ configurationName }) => configuration === undefined || configurationName === configuration)
        .sort(byConfiguration);
      // Instances may outlive their configuration.
      if (configuration !== undefined && found.length === 0) await api.get(configurationPath(configuration));
      return found;
    },
    'instance info': ({ id }) => api.get(`${instancePath(id)}/details`),
    'instance why': ({ id }) => api.get(`${instancePath(id)}/why`),
    'instance logs': ({ id, ...question }) => api.get(`${instancePath(id)}/logs?${logQuery(question)}`),
    'instance create': (input) => create(api, input),
    'instance adopt': ({ directory, configuration }) =>
      api.send('POST', `/cluster/left-directories/${pathPart(directory)}/adopt`, {
        ...(configuration !== undefined && { configurationName: configuration }),
      }),
    'instance stop': lifecycle('stop'),
    'instance start': lifecycle('start'),
    'instance restart': lifecycle('restart'),
    'instance update': act(
      'update',
      (id, { waitForPlayers }: Selecting & UpdateBody): Promise<UpdatedInstance> =>
        api.send('POST', `${instancePath(id)}/update`, { waitForPlayers }),
    ),
    'instance delete': act('delete', (id): Promise<InstanceMessage> => api.send('DELETE', instancePath(id))),
    'instance execute': ({ id, command }) => api.send('POST', `${instancePath(id)}/execute`, { command }),
  };
}

/** Groups are asked for only where they choose. */
async function knownTo(api: ApiCalls, { selection }: Selecting): Promise<KnownInstances> {
  const instances = (await api.get<InstanceInfo[]>('/instances')).sort(byConfiguration);
  const isByGroup = 'filter' in selection && selection.filter.group !== undefined;
  const configurations = isByGroup ? await api.get<Configuration[]>('/configurations') : [];
  const groups = configurations.map(({ name, instanceGroups }) => [name, instanceGroups] as const);
  return { instances, groups: new Map(groups) };
}

function refusalOf(error: unknown): Refusal | undefined {
  if (!(error instanceof ClientError)) return undefined;
  const { message, exitCode } = error;
  return { message, exitCode, isFinal: isTransient(error) || exitCode === EXIT.denied };
}

async function create(
  api: ApiCalls,
  { configuration, count }: InputOf<'instance create'>,
): Promise<readonly InstanceInfo[]> {
  // The route that makes one calls an unknown name a bad request.
  await api.get(configurationPath(configuration));
  const created: InstanceInfo[] = [];
  while (created.length < count)
    try {
      created.push(await api.send('POST', '/instances', { configurationName: configuration }));
    } catch (error) {
      throw incomplete(created, count, error);
    }
  return created;
}

/** Adds to the error of a creation the instances that were made before it. */
function incomplete(created: readonly InstanceInfo[], count: number, error: unknown): unknown {
  if (created.length === 0 || !(error instanceof ClientError)) return error;
  const ids = created.map(({ id }) => id).join(', ');
  const message = `${created.length} of ${count} instances were created (${ids}), then: ${error.message}`;
  return new ClientError(error.exitCode, message, { cause: error });
}

/** For the route that answers with a part of a log. */
export function logQuery({
  lines,
  since,
  until,
  timestamps,
  previous,
}: Omit<InputOf<'instance logs'>, 'id'>): string {
  const query = new URLSearchParams({ lines: String(lines) });
  if (since !== undefined) query.set('since', logPointText(since));
  if (until !== undefined) query.set('until', logPointText(until));
  // A master that does not know them yet says nothing of them.
  if (timestamps) query.set('timestamps', 'true');
  if (previous) query.set('previous', 'true');
  return query.toString();
}

function instancePath(id: string): string {
  return `/instances/${pathPart(id)}`;
}

function configurationPath(name: string): string {
  return `/configurations/${pathPart(name)}`;
}
