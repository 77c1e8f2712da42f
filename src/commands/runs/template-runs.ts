/** `template ...` in the daemon. */
import type { CommandRuns, InputOf, RunCall } from '../../command-tree/commands.js';
import {
  type DownloadedTemplate,
  describeDispatch,
  type TEMPLATE_COMMANDS,
  type TemplateSync,
} from '../../command-tree/groups/templates.js';
import { suggest } from '../../command-tree/suggest.js';
import { DroverError } from '../../model/errors.js';
import { quoteText } from '../../model/words.js';
import { templateUsers } from '../../operations/template-users.js';
import { matcherOf, type TemplateName } from '../../templates/sync/pattern.js';
import type { CommandDependencies } from '../context.js';

/** Less than the time limit of a command. */
const MAX_WAIT_MS = 30_000;

type TemplateRuns = Pick<CommandRuns, keyof typeof TEMPLATE_COMMANDS>;

export function templateRuns(dependencies: CommandDependencies): TemplateRuns {
  return {
    'template list': async () => {
      await dependencies.templates.rescan();
      return [...templatesOf(dependencies)].map((template) => ({
        ...template,
        usedBy: templateUsers(dependencies, template),
      }));
    },
    'template sync': (input, call) => sync(dependencies, input, call),
    'template progress': () => dependencies.templateSync.latestSync() ?? null,
  };
}

async function sync(
  dependencies: CommandDependencies,
  { pattern, storage, wait }: InputOf<'template sync'>,
  call: RunCall,
): Promise<TemplateSync> {
  await dependencies.templates.rescan();
  const downloaded = storage === null ? [] : await download(dependencies, pattern, storage, call);
  const run = await dependencies.templateSync.toCluster(pattern);
  const { templates, nodes } = run;
  if (templates.length === 0) throw noMatch(dependencies, pattern);
  const dispatched = { pattern, storage, downloaded, templates, nodes, report: null };
  if (!wait) return dispatched;
  call.say(describeDispatch(dispatched));
  await untilOver(dependencies, call, run);
  return { ...dispatched, report: run.report() };
}

/** Waits until all nodes have answered, half a minute at most. The sync goes on after that. */
async function untilOver(
  { clock }: CommandDependencies,
  { signal }: RunCall,
  { report, onProgress }: Awaited<ReturnType<CommandDependencies['templateSync']['toCluster']>>,
): Promise<void> {
  await new Promise<void>((resolve) => {
    const end = (): void => {
      timer.cancel();
      unsubscribe();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const look = (): void => {
      if (report().isOver || signal.aborted) end();
    };
    const timer = clock.setTimer(MAX_WAIT_MS, end);
    const unsubscribe = onProgress(look);
    signal.addEventListener('abort', end);
    look();
  });
}

async function download(
  dependencies: CommandDependencies,
  pattern: string,
  storage: string,
  { signal }: RunCall,
): Promise<readonly DownloadedTemplate[]> {
  const results: DownloadedTemplate[] = [];
  for (const { group, name } of templatesToDownload(dependencies, pattern)) {
    if (signal.aborted) break;
    const stored = await dependencies.templateSync.fromStorage(group, name, storage);
    results.push({ group, name, ...stored });
  }
  return results;
}

/**
 * The templates that the pattern names. A full name need not exist yet. Throws DRV_REQUEST_INVALID,
 * DRV_TEMPLATE_UNKNOWN.
 */
function templatesToDownload(dependencies: CommandDependencies, pattern: string): readonly TemplateName[] {
  const isMeant = matcherOf(pattern);
  const [group = '', name = '*'] = pattern.split('/');
  if (name !== '*') return [{ group, name }];
  const found = [...templatesOf(dependencies)].filter(isMeant);
  if (found.length === 0) throw noMatch(dependencies, pattern);
  return found;
}

function noMatch(dependencies: CommandDependencies, pattern: string): DroverError {
  const known = [...templatesOf(dependencies)].flatMap(({ group, name }) => [
    `${group}/${name}`,
    `${group}/*`,
  ]);
  const suggestion = suggest(pattern, [...new Set(known)], 'template list');
  return new DroverError('DRV_TEMPLATE_UNKNOWN', `no template matches ${quoteText(pattern)}${suggestion}`);
}

function* templatesOf({ templates }: CommandDependencies): Generator<TemplateName> {
  for (const [group, names] of templates.groups()) for (const name of names) yield { group, name };
}
