/** `config ...` in the client. */
import type { CommandRuns, DataOf } from '../../command-tree/commands.js';
import type { CONFIGURATION_COMMANDS } from '../../command-tree/groups/configurations.js';
import { type ApiClient, pathPart } from '../api-client.js';

type ConfigurationRuns = Pick<CommandRuns, keyof typeof CONFIGURATION_COMMANDS>;
type Listed = DataOf<'config list'>;

export function configurationRuns(api: ApiClient): ConfigurationRuns {
  return {
    'config list': async () => {
      const [configurations, removed, brokenFiles] = await Promise.all([
        api.get<Listed['configurations']>('/cluster/configurations'),
        api.get<Listed['removed']>('/cluster/removed-configurations'),
        api.get<Listed['brokenFiles']>('/configuration-files/errors'),
      ]);
      return { configurations, removed, brokenFiles };
    },
    'config show': ({ name }) => api.get(`/configurations/${pathPart(name)}`),
    'config reload': () => api.send('POST', '/configuration-files/reload'),
    'config why': ({ name }) => api.get(`/configurations/${pathPart(name)}/why`),
    'config diff': ({ name }) => api.get(`/configurations/${pathPart(name)}/diff`),
  };
}
