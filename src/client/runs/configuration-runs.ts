/** `config ...` in the client. */
import type { CommandRuns, DataOf } from '../../command-tree/commands.js';
import { type CONFIGURATION_COMMANDS, deletedText } from '../../command-tree/groups/configurations.js';
import { withMinimum } from '../../model/plain/scaled-content.js';
import { type ApiClient, pathPart } from '../api-client.js';
import { ifMatch, readContent } from './configuration-content.js';

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
    'config reload': ({ confirm }) => api.send('POST', `/configuration-files/reload?confirm=${confirm}`),
    'config why': ({ name }) => api.get(`/configurations/${pathPart(name)}/why`),
    'config diff': ({ name }) => api.get(`/configurations/${pathPart(name)}/diff`),
    'config scale': async ({ name, count }) => {
      const { content, revision } = await readContent(api, name);
      const scaled = withMinimum(content, count);
      await api.send('PUT', `/configurations/${pathPart(name)}`, scaled.content, ifMatch(revision));
      return { name, before: scaled.before, after: count };
    },
    'config delete': async ({ name }) => {
      await api.send('DELETE', `/configurations/${pathPart(name)}`);
      return { message: deletedText(name), name };
    },
  };
}
