/** `template ...`: which templates there are, and bringing them to where they are needed. */
import type { Command } from 'commander';
import { DroverError } from '../model/errors.js';
import { matcherOf, type TemplateName } from '../templates/pattern.js';
import { addCommand, type CommandContext, type SharedOptions, show, tableOf } from './context.js';
import { quote, suggest } from './find.js';

/** Templates named in one line. */
const MAX_NAMES = 20;

export function addTemplateCommands(program: Command, context: CommandContext): void {
  const group = program.command('template').description('templates: file trees for working directories');
  addCommand(group, 'list', 'all templates of the master').action((options: SharedOptions) =>
    list(context, options),
  );
  addCommand(group, 'sync <pattern>', 'fetch templates ahead of need: group/name, group/* or *')
    .option('-s, --storage <key>', 'download them from this storage provider first')
    .action((pattern: string, options: SharedOptions & { storage?: string }) =>
      sync(context, pattern, options),
    );
}

async function list(context: CommandContext, options: SharedOptions): Promise<void> {
  const templates = [...templatesOf(context)].map((template) => ({
    ...template,
    usedBy: usersOf(context, template),
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

async function sync(
  context: CommandContext,
  pattern: string,
  options: SharedOptions & { storage?: string },
): Promise<void> {
  const lines: string[] = [];
  const { storage } = options;
  const downloaded = storage === undefined ? [] : await download(context, pattern, storage);
  for (const { group, name, files, bytes } of downloaded)
    lines.push(`downloaded ${group}/${name} from ${storage}: ${files} files, ${bytes} bytes`);
  const { templates, nodes } = await context.dependencies.templates.toCluster(pattern);
  if (templates.length === 0) throw noMatch(context, pattern);
  lines.push(describeDispatch(templates, nodes));
  await show(
    context,
    options,
    () => ({ pattern, storage: storage ?? null, downloaded, templates, nodes }),
    () => lines.join('\n'),
  );
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
      ...(await context.dependencies.templates.fromStorage(group, name, storage)),
    });
  }
  return results;
}

function describeDispatch(templates: readonly string[], nodes: readonly string[]): string {
  const shown = templates.slice(0, MAX_NAMES).join(', ') + (templates.length > MAX_NAMES ? ', ...' : '');
  const count = templates.length === 1 ? '1 template' : `${templates.length} templates`;
  const target = nodes.length === 0 ? 'no node, for none is connected' : nodes.join(', ');
  return `${count} (${shown}) on the way to ${target}`;
}

/** A template that is named in full need not be here yet. Throws DRV_REQUEST_INVALID, DRV_TEMPLATE_UNKNOWN. */
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
  return new DroverError('DRV_TEMPLATE_UNKNOWN', `no template matches ${quote(pattern)}${suggestion}`);
}

function* templatesOf({ dependencies }: CommandContext): Generator<TemplateName> {
  for (const [group, names] of dependencies.templates.groups())
    for (const name of names) yield { group, name };
}

/** Names of the configurations that may install it. */
function usersOf({ dependencies }: CommandContext, { group, name }: TemplateName): string[] {
  const users: string[] = [];
  for (const [user, { value }] of dependencies.configurations.entries()) {
    const { allOf, oneOf, allInGroups, oneInGroups } = value.configuration.templateInstallationConfig;
    const isNamed = [...allOf, ...oneOf].some((entry) => entry.group === group && entry.name === name);
    if (isNamed || [...allInGroups, ...oneInGroups].includes(group)) users.push(user);
  }
  return users.sort();
}
