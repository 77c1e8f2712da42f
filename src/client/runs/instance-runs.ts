/** `instance ...` in the client. */
import type { CommandRuns, DataOf, InputOf } from '../../command-tree/commands.js';
import { byConfiguration } from '../../command-tree/groups/instance-text.js';
import type { INSTANCE_COMMANDS } from '../../command-tree/groups/instances.js';
import type { InstanceInfo } from '../../model/instance.js';
import { logPointText } from '../../operations/log-point.js';
import { type ApiClient, pathPart } from '../api-client.js';
import { ClientError } from '../client-error.js';

type InstanceRuns = Pick<CommandRuns, keyof typeof INSTANCE_COMMANDS>;

export function instanceRuns(api: ApiClient): InstanceRuns {
  const lifecycle =
    (target: 'start' | 'stop' | 'restart') =>
    async ({ id }: { readonly id: string }): Promise<DataOf<'instance stop'>> => {
      // The route that changes it calls an unknown id a bad request.
      await api.get(instancePath(id));
      return api.send('PATCH', `${instancePath(id)}/lifecycle?target=${target}`);
    };
  return {
    'instance list': async ({ configuration }) => {
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
    'instance stop': lifecycle('stop'),
    'instance start': lifecycle('start'),
    'instance restart': lifecycle('restart'),
    'instance update': ({ id, ...how }) => api.send('POST', `${instancePath(id)}/update`, how),
    'instance delete': ({ id }) => api.send('DELETE', instancePath(id)),
    'instance execute': ({ id, command }) => api.send('POST', `${instancePath(id)}/execute`, { command }),
  };
}

async function create(
  api: ApiClient,
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
