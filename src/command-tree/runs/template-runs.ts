/** Runs the commands `template ...`. */
import { setTimeout as pause } from 'node:timers/promises';
import { meantName } from '../../configuration-files/nearest-name.js';
import type { Configuration } from '../../model/configuration.js';
import { mayInstall } from '../../model/plain/may-install.js';
import type { ClusterSyncReport } from '../../model/template.js';
import { quoteText } from '../../model/words.js';
import { matcherOf, type TemplateName } from '../../templates/sync/pattern.js';
import type { CommandRuns, InputOf, RunCall } from '../commands.js';
import { type DownloadedTemplate, describeDispatch, type TemplateSync } from '../groups/templates.js';
import { type ApiCalls, find, pathPart } from './api-calls.js';
import { type ClientError, notFoundError } from './client-error.js';

/** The longest wait for the nodes: less than the time limit of a line of the console. */
const MAX_WAIT_MS = 30_000;
/** The first pause between two looks at a sync. Each pause is twice the last one, up to the longest. */
const FIRST_LOOK_MS = 20;
const LOOK_EVERY_MS = 500;
/** A storage may be slow, and the route has no limit of its own. */
const DOWNLOAD_MS = 3_600_000;

export function templateRuns(api: ApiCalls) {
  return {
    'template list': async () => {
      const [templates, configurations] = await Promise.all([
        listTemplates(api),
        api.get<Configuration[]>('/configurations'),
      ]);
      return templates.map((template) => ({
        ...template,
        usedBy: configurations
          .filter(({ templateInstallationConfig }) => mayInstall(templateInstallationConfig, template))
          .map(({ name }) => name)
          .sort(),
      }));
    },
    'template sync': (input, call) => sync(api, input, call),
    'template progress': async () => (await find<ClusterSyncReport>(api, '/templates/sync')) ?? null,
  } satisfies Partial<CommandRuns>;
}

async function listTemplates(api: ApiCalls): Promise<TemplateName[]> {
  const groups = await api.get<{ readonly templates: readonly TemplateName[] }[]>('/templates');
  return groups.flatMap(({ templates }) => templates.map(({ group, name }) => ({ group, name })));
}

async function sync(
  api: ApiCalls,
  { pattern, storage, wait }: InputOf<'template sync'>,
  call: RunCall,
): Promise<TemplateSync> {
  const downloaded = storage === null ? [] : await download(api, pattern, storage);
  const { templates, nodes } = await api.send<Pick<TemplateSync, 'templates' | 'nodes'>>(
    'POST',
    '/templates/sync',
    { pattern },
  );
  if (templates.length === 0) throw await noMatch(api, pattern);
  const dispatched = { pattern, storage, downloaded, templates, nodes, report: null };
  if (!wait) return dispatched;
  call.say(describeDispatch(dispatched));
  return { ...dispatched, report: await untilOver(api, call) };
}

/** Waits until all nodes have answered, but at most half a minute. The sync continues after that. */
async function untilOver(api: ApiCalls, { signal }: RunCall): Promise<ClusterSyncReport> {
  const endAt = performance.now() + MAX_WAIT_MS;
  for (let pauseMs = FIRST_LOOK_MS; ; pauseMs = Math.min(2 * pauseMs, LOOK_EVERY_MS)) {
    const report = await api.get<ClusterSyncReport>('/templates/sync');
    if (report.isOver || performance.now() >= endAt) return report;
    await pause(pauseMs, undefined, { signal });
  }
}

async function download(api: ApiCalls, pattern: string, storage: string): Promise<DownloadedTemplate[]> {
  const results: DownloadedTemplate[] = [];
  for (const { group, name } of await templatesToDownload(api, pattern)) {
    const path = `/templates/${pathPart(group)}/${pathPart(name)}/sync`;
    const { files, bytes, digest } = await api.send<DownloadedTemplate>(
      'POST',
      path,
      { storage },
      { timeoutMs: DOWNLOAD_MS },
    );
    results.push({ group, name, files, bytes, digest });
  }
  return results;
}

/**
 * The templates that the pattern names. A pattern with a full name returns that name without a look at the list,
 * because the template may not exist yet.
 */
async function templatesToDownload(api: ApiCalls, pattern: string): Promise<readonly TemplateName[]> {
  const isMeant = matcherOf(pattern);
  const [group = '', name = '*'] = pattern.split('/');
  if (name !== '*') return [{ group, name }];
  const found = (await listTemplates(api)).filter(isMeant);
  if (found.length === 0) throw await noMatch(api, pattern);
  return found;
}

async function noMatch(api: ApiCalls, pattern: string): Promise<ClientError> {
  const known = (await listTemplates(api)).flatMap(({ group, name }) => [`${group}/${name}`, `${group}/*`]);
  const meant = meantName(pattern, [...new Set(known)]);
  const hint = meant === undefined ? ': "template list" shows all' : `. Did you mean ${meant}?`;
  return notFoundError(`no template matches ${quoteText(pattern)}${hint}`);
}
