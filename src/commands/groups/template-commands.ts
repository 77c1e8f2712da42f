/** `template ...`: lists templates, and brings them to where they are needed. */

import type { Command } from 'commander';
import { DroverError } from '../../model/errors.js';
import type { ClusterSyncReport } from '../../model/template.js';
import { countText, quoteText } from '../../model/words.js';
import { templateUsers } from '../../operations/template-users.js';
import { describeNodeSync } from '../../templates/sync/cluster-sync.js';
import { matcherOf, type TemplateName } from '../../templates/sync/pattern.js';
import { addCommand, type CommandContext, type SharedOptions, show, tableOf } from '../context.js';
import { suggest } from '../find.js';

/** Less than the time limit of a command. */
const MAX_WAIT_MS = 30_000;
/** The most templates that one line names. */
const MAX_NAMES = 20;

interface SyncOptions extends SharedOptions {
  readonly storage?: string;
  /** False with --no-wait. */
  readonly wait: boolean;
}

export function addTemplateCommands(program: Command, context: CommandContext): void {
  const group = program.command('template').description('templates: file trees for working directories');
  addCommand(group, 'list', 'all templates of the master').action((options: SharedOptions) =>
    list(context, options),
  );
  addCommand(group, 'sync <pattern>', 'fetch templates ahead of need: group/name, group/* or *')
    .option('-s, --storage <key>', 'download them from this storage provider first')
    .option('--no-wait', 'do not wait for the nodes')
    .action((pattern: string, options: SyncOptions) => sync(context, pattern, options));
  addCommand(group, 'progress', 'the latest sync, node by node').action((options: SharedOptions) =>
    progress(context, options),
  );
}

async function list(context: CommandContext, options: SharedOptions): Promise<void> {
  await context.dependencies.templates.rescan();
  const templates = [...templatesOf(context)].map((template) => ({
    ...template,
    usedBy: templateUsers(context.dependencies, template),
  }));
  await show(
    context,
    options,
    () => templates,
    () =>
      tableOf(
        context,
        ['GROUP', 'NAME', 'USED BY'],
        templates.map(({ group, name, usedBy }) => [group, name, usedBy.join(', ')]),
        'there are no templates: put directories into templates/<group>/<name>/',
      ),
  );
}

async function sync(context: CommandContext, pattern: string, options: SyncOptions): Promise<void> {
  const lines: string[] = [];
  const { storage, wait } = options;
  await context.dependencies.templates.rescan();
  const downloaded = storage === undefined ? [] : await download(context, pattern, storage);
  for (const { group, name, files, bytes } of downloaded)
    lines.push(`downloaded ${group}/${name} from ${storage}: ${files} files, ${bytes} bytes`);
  const run = await context.dependencies.templateSync.toCluster(pattern);
  const { templates, nodes } = run;
  if (templates.length === 0) throw noMatch(context, pattern);
  lines.push(describeDispatch(templates, nodes));
  if (wait && options.output === 'table') context.output.print(lines.splice(0).join('\n'));
  if (wait) await untilOver(context, run);
  const results = wait ? run.report() : undefined;
  await show(
    context,
    options,
    () => ({
      pattern,
      storage: storage ?? null,
      downloaded,
      templates,
      nodes,
      results: results?.nodes ?? null,
    }),
    () => [...lines, ...(results === undefined ? [] : describeReport(results))].join('\n'),
  );
}

/** Waits until all nodes have answered, half a minute at most. The sync goes on after that. */
async function untilOver(
  { dependencies: { clock }, signal }: CommandContext,
  { report, onProgress }: Awaited<ReturnType<CommandContext['dependencies']['templateSync']['toCluster']>>,
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

async function progress(context: CommandContext, options: SharedOptions): Promise<void> {
  const latest = context.dependencies.templateSync.latestSync();
  await show(
    context,
    options,
    () => latest ?? null,
    () =>
      latest === undefined
        ? 'no sync since the master started'
        : [`template sync ${latest.pattern}`, ...describeReport(latest)].join('\n'),
  );
}

function describeReport({ nodes, leftOut, isOver }: ClusterSyncReport): string[] {
  const more = isOver ? [] : ['Not all nodes are through: "template progress" shows how it goes.'];
  return [...leftOut.map((what) => `left out: ${what}`), ...nodes.map(describeNodeSync), ...more];
}

async function download(
  context: CommandContext,
  pattern: string,
  storage: string,
): Promise<(TemplateName & { readonly files: number; readonly bytes: number; readonly digest: string })[]> {
  const results = [];
  for (const { group, name } of templatesToDownload(context, pattern)) {
    if (context.signal.aborted) break;
    results.push({
      group,
      name,
      ...(await context.dependencies.templateSync.fromStorage(group, name, storage)),
    });
  }
  return results;
}

function describeDispatch(templates: readonly string[], nodes: readonly string[]): string {
  const shown = templates.slice(0, MAX_NAMES).join(', ') + (templates.length > MAX_NAMES ? ', ...' : '');
  const count = countText(templates.length, 'template');
  const target = nodes.length === 0 ? 'no node, because none is connected' : nodes.join(', ');
  return `${count} (${shown}) on the way to ${target}`;
}

/**
 * The templates that the pattern names. A full name need not exist yet. Throws DRV_REQUEST_INVALID,
 * DRV_TEMPLATE_UNKNOWN.
 */
function templatesToDownload(context: CommandContext, pattern: string): readonly TemplateName[] {
  const isMeant = matcherOf(pattern);
  const [group = '', name = '*'] = pattern.split('/');
  if (name !== '*') return [{ group, name }];
  const found = [...templatesOf(context)].filter(isMeant);
  if (found.length === 0) throw noMatch(context, pattern);
  return found;
}

function noMatch(context: CommandContext, pattern: string): DroverError {
  const known = [...templatesOf(context)].flatMap(({ group, name }) => [`${group}/${name}`, `${group}/*`]);
  const suggestion = suggest(pattern, [...new Set(known)], 'template list');
  return new DroverError('DRV_TEMPLATE_UNKNOWN', `no template matches ${quoteText(pattern)}${suggestion}`);
}

function* templatesOf({ dependencies }: CommandContext): Generator<TemplateName> {
  for (const [group, names] of dependencies.templates.groups())
    for (const name of names) yield { group, name };
}
