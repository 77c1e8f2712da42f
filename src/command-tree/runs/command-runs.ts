/** What each command does: calls of the API. A route answers what its command prints with `-o json`. */

import type { CommandRuns, DataOf } from '../commands.js';
import { type ApiCalls, pathPart } from './api-calls.js';
import { configurationRuns } from './configuration-runs.js';
import { instanceRuns } from './instance-runs.js';
import { nodeRuns } from './node-runs.js';
import { rolloutRuns } from './rollout-runs.js';
import { templateRuns } from './template-runs.js';

export function commandRuns(api: ApiCalls): CommandRuns {
  const removeKey = ({ label }: { readonly label: string }) =>
    api.send<DataOf<'key delete'>>('DELETE', `/keys/${pathPart(label)}`);
  return {
    ...instanceRuns(api),
    ...configurationRuns(api),
    ...rolloutRuns(api),
    ...templateRuns(api),
    ...nodeRuns(api),
    'cluster token create': (token) => api.send('POST', '/cluster/tokens', token),
    'cluster token list': () => api.get('/cluster/tokens'),
    'cluster token revoke': ({ id }) => api.send('DELETE', `/cluster/tokens/${pathPart(id)}`),
    'key create': (key) => api.send('POST', '/keys', key),
    'key list': () => api.get('/keys'),
    'key delete': removeKey,
    'key revoke': removeKey,
    'session list': () => api.get('/sessions'),
    'session revoke': ({ id }) => api.send('DELETE', `/sessions/${pathPart(id)}`),
    'extension list': () => api.get('/extensions'),
  };
}
