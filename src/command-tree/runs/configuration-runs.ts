/** Runs the commands `config ...`. */

import type { InstanceInfo } from '../../model/instance.js';
import { withMinimum } from '../../model/plain/scaled-content.js';
import { surplusOf } from '../../model/plain/surplus.js';
import type { CommandRuns, DataOf } from '../commands.js';
import { deletedText } from '../groups/configurations.js';
import { type ApiCalls, ifMatch, pathPart, readContent } from './api-calls.js';

type Listed = DataOf<'config list'>;

export function configurationRuns(api: ApiCalls) {
  const endSurplus = async (name: string, count: number): Promise<string[]> => {
    const all = await api.get<InstanceInfo[]>('/instances');
    const own = all.filter(
      ({ configurationName, state }) => configurationName === name && state !== 'STOPPED',
    );
    const ids = surplusOf(own, count).map(({ id }) => id);
    for (const id of ids) await api.send('DELETE', `/instances/${pathPart(id)}`);
    return ids;
  };
  return {
    'config list': async ({ state = '' }) => {
      const [configurations, removed, brokenFiles, directory] = await Promise.all([
        api.get<Listed['configurations']>('/cluster/configurations'),
        api.get<Listed['removed']>('/cluster/removed-configurations'),
        api.get<Listed['brokenFiles']>('/configuration-files/errors'),
        api.get<Listed['directory']>('/configuration-files/directory'),
      ]);
      const shown = configurations.filter(({ health }) => ['', health.state].includes(state));
      return { configurations: shown, removed, brokenFiles, directory };
    },
    'config show': ({ name }) => api.get(`/configurations/${pathPart(name)}`),
    'config reload': ({ confirm }) => api.send('POST', `/configuration-files/reload?confirm=${confirm}`),
    'config why': ({ name }) => api.get(`/configurations/${pathPart(name)}/why`),
    'config diff': ({ name, from, to, showValues }) => {
      const path = `/configurations/${pathPart(name)}`;
      const values = `values=${showValues}`;
      if (from === undefined) return api.get(`${path}/diff?${values}`);
      const newer = to === undefined ? '' : `&to=${to}`;
      return api.get(`${path}/history/diff?from=${from}${newer}&${values}`);
    },
    'config history': ({ name }) => api.get(`/configurations/${pathPart(name)}/history`),
    'config rollback': ({ name, to, reason, write }) => {
      const path = `/configurations/${pathPart(name)}/rollback`;
      return api.send('POST', write ? `${path}/file` : path, { to, reason });
    },
    'config restart': ({ name }) => api.send('POST', `/configurations/${pathPart(name)}/restart`),
    'config freeze': ({ name, until, reason }) =>
      api.send('POST', `/configurations/${pathPart(name)}/freeze`, { until, reason }),
    'config unfreeze': ({ name }) => api.send('DELETE', `/configurations/${pathPart(name)}/freeze`),
    'config overrides': async ({ name }) => {
      const { writes, overrides } = await api.get<DataOf<'config overrides'>>('/configuration-overrides');
      const shown = overrides.filter((one) => name === undefined || one.configurationName === name);
      return { writes, overrides: shown };
    },
    'config reset': async ({ name, field }) => {
      await api.send('POST', `/configurations/${pathPart(name)}/reset`, { field });
      return { message: `configuration ${name}: ${field ?? 'everything'} is as the file says`, name };
    },
    'config scale': async ({ name, count, reason, remove }) => {
      const { content, revision } = await readContent(api, name);
      const scaled = withMinimum(content, count);
      const path = `/configurations/${pathPart(name)}${reasonQuery(reason)}`;
      await api.send('PUT', path, scaled.content, ifMatch(revision));
      const { gitNote: note } = await readContent(api, name);
      const { before, above } = scaled;
      return {
        name,
        before,
        after: count,
        above,
        note,
        ...(remove && { ended: await endSurplus(name, count) }),
      };
    },
    'config delete': async ({ name, reason }) => {
      await api.send('DELETE', `/configurations/${pathPart(name)}${reasonQuery(reason)}`);
      return { message: deletedText(name), name };
    },
  } satisfies Partial<CommandRuns>;
}

function reasonQuery(reason: string | undefined): string {
  return reason === undefined ? '' : `?reason=${encodeURIComponent(reason)}`;
}
