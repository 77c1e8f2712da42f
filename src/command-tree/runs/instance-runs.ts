/** Runs the commands `instance ...`. */

import type { UpdateBody, UpdatedInstance } from '../../api/routes/instances/update-route.js';
import type { Configuration } from '../../model/configuration.js';
import type { InstanceInfo } from '../../model/instance.js';
import { logPointText } from '../../operations/log-point.js';
import type { CommandRuns, InputOf, RunCall } from '../commands.js';
import { byConfiguration, leftOf } from '../groups/instance-text.js';
import { actOnInstances, type InstanceMessage } from '../selection/act.js';
import { type InstanceAction, isMeant, type KnownInstances } from '../selection/choose.js';
import type { Selecting } from '../selection/selection.js';
import { type ApiCalls, pathPart, queryOf } from './api-calls.js';
import { ClientError } from './client-error.js';

export function instanceRuns(api: ApiCalls) {
  const act =
    <Input extends Selecting, Done extends InstanceMessage>(
      action: InstanceAction,
      perform: (id: string, input: Input) => Promise<Done>,
    ) =>
    (input: Input, call: RunCall) =>
      actOnInstances(
        {
          action,
          input,
          known: () => knownTo(api, input, action === 'stop'),
          perform: (id) => perform(id, input),
        },
        call,
      );
  const lifecycle = (target: 'start' | 'stop' | 'restart') =>
    act(target, async (id): Promise<InstanceMessage & { readonly target: string }> => {
      // Ask for the instance first: for an unknown id this route answers 404, and the PATCH only a bad request.
      await api.get(instancePath(id));
      return api.send('PATCH', `${instancePath(id)}/lifecycle?target=${target}`);
    });
  return {
    'instance list': async (input) => {
      const { configuration, left } = input;
      if (left) return leftOf(await api.get('/cluster/left-directories'), configuration);
      const found = listedInstances(await knownTo(api, { selection: { filter: input } }), input);
      // An empty list is an error only when the configuration is unknown too: instances may outlive their
      // configuration.
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
    'instance signal': ({ id, signal, all }) =>
      api.send('POST', `${instancePath(id)}/signal`, { signal, all }),
  } satisfies Partial<CommandRuns>;
}

/** The instances that `instance list` means, in its order. */
export function listedInstances(
  known: KnownInstances,
  input: InputOf<'instance list'>,
): readonly InstanceInfo[] {
  const { state = '' } = input;
  return known.instances.filter((one) => isMeant(one, input, known) && ['', one.state].includes(state));
}

/**
 * The instances and groups that a selection is made from. Configurations are loaded only when the selection names a
 * group, or the waits of configurations are needed.
 */
async function knownTo(api: ApiCalls, { selection }: Selecting, isOrdered = false): Promise<KnownInstances> {
  const instances = (await api.get<InstanceInfo[]>('/instances')).sort(byConfiguration);
  const isByGroup = 'filter' in selection && selection.filter.group !== undefined;
  const configurations = isByGroup || isOrdered ? await api.get<Configuration[]>('/configurations') : [];
  const groups = configurations.map(({ name, instanceGroups }) => [name, instanceGroups] as const);
  const waits = configurations.map(
    ({ name, waitsFor = [] }) => [name, waitsFor.map(({ configuration }) => configuration)] as const,
  );
  return { instances, groups: new Map(groups), waits: new Map(waits) };
}

async function create(
  api: ApiCalls,
  { configuration, count }: InputOf<'instance create'>,
): Promise<readonly InstanceInfo[]> {
  // Ask for the configuration first: for an unknown name this route answers 404, and the creation only a bad request.
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

/** Adds to the error of a creation the instances that were created before the failure. */
function incomplete(created: readonly InstanceInfo[], count: number, error: unknown): unknown {
  if (created.length === 0 || !(error instanceof ClientError)) return error;
  const ids = created.map(({ id }) => id).join(', ');
  const message = `${created.length} of ${count} instances were created (${ids}), then: ${error.message}`;
  return new ClientError(error.exitCode, message, { cause: error });
}

/** The query of a request for a part of a log. */
export function logQuery(asked: Omit<InputOf<'instance logs'>, 'id'>): URLSearchParams {
  const { lines, since, until, timestamps, previous } = asked;
  return queryOf({
    lines,
    since: since && logPointText(since),
    until: until && logPointText(until),
    timestamps: timestamps ? 'true' : undefined,
    previous: previous ? 'true' : undefined,
  });
}

function instancePath(id: string): string {
  return `/instances/${pathPart(id)}`;
}

function configurationPath(name: string): string {
  return `/configurations/${pathPart(name)}`;
}
