/** The runs of all commands. A run calls the API, and a command prints the answer of its route with `-o json`. */

import type { CommandRuns, DataOf } from '../commands.js';
import { type ApiCalls, pathPart } from './api-calls.js';
import { configurationRuns } from './configuration-runs.js';
import { instanceRuns } from './instance-runs.js';
import { nodeRuns } from './node-runs.js';
import { templateRuns } from './template-runs.js';

export function commandRuns(api: ApiCalls): CommandRuns {
  const removeKey = ({ label }: { readonly label: string }) =>
    api.send<DataOf<'key delete'>>('DELETE', `/keys/${pathPart(label)}`);
  const rollout = (name: string): string => `/rollouts/${pathPart(name)}`;
  const schedule =
    (action: string) =>
    (input: { readonly name: string; readonly schedule: string }): Promise<DataOf<'schedule run'>> =>
      api.send(
        'POST',
        `/configurations/${pathPart(input.name)}/schedules/${pathPart(input.schedule)}/${action}`,
      );
  return {
    ...instanceRuns(api),
    ...configurationRuns(api),
    ...templateRuns(api),
    ...nodeRuns(api),
    'rollout list': () => api.get('/rollouts'),
    'rollout status': ({ name }) => api.get(rollout(name)),
    'rollout pause': ({ name }) => api.send('POST', `${rollout(name)}/pause`),
    'rollout resume': ({ name }) => api.send('POST', `${rollout(name)}/resume`),
    'rollout promote': ({ name }) => api.send('POST', `${rollout(name)}/promote`),
    'rollout retry': ({ name }) => api.send('POST', `${rollout(name)}/retry`),
    'schedule list': async ({ configuration }) => {
      const all = await api.get<DataOf<'schedule list'>>('/schedules');
      return all.filter((one) => configuration === undefined || one.configurationName === configuration);
    },
    'schedule run': schedule('run'),
    'schedule skip': schedule('skip'),
    'schedule pause': schedule('pause'),
    'schedule resume': schedule('resume'),
    'cluster token create': (token) => api.send('POST', '/cluster/tokens', token),
    'cluster token list': () => api.get('/cluster/tokens'),
    'cluster token revoke': ({ id }) => api.send('DELETE', `/cluster/tokens/${pathPart(id)}`),
    'key create': (key) => api.send('POST', '/keys', key),
    'key list': () => api.get('/keys'),
    'key delete': removeKey,
    'key revoke': removeKey,
    'session list': () => api.get('/sessions'),
    'session revoke': ({ id }) => api.send('DELETE', `/sessions/${pathPart(id)}`),
    'secret list': () => api.get('/secrets'),
    'secret remove': ({ name }) => api.send('DELETE', `/secrets/${pathPart(name)}`),
    'extension list': () => api.get('/extensions'),
    'webhook list': () => api.get('/webhooks'),
    'webhook test': async ({ name }) => {
      await api.send('POST', `/webhooks/${pathPart(name)}/test`);
      return { name };
    },
  };
}
