/** `template ...`: lists templates, and brings them to where they are needed. */
import type { ClusterSyncReport } from '../../model/template.js';
import { countText } from '../../model/words.js';
import { describeNodeSync } from '../../templates/sync/node-sync-text.js';
import type { TemplateName } from '../../templates/sync/pattern.js';
import { describe, noInput, tableOf } from '../command.js';

/** The most templates that a line of output names. */
const MAX_NAMES = 20;

export interface DownloadedTemplate extends TemplateName {
  readonly files: number;
  readonly bytes: number;
  readonly digest: string;
}

/** What `template sync` did. */
export interface TemplateSync {
  readonly pattern: string;
  readonly storage: string | null;
  readonly downloaded: readonly DownloadedTemplate[];
  readonly templates: readonly string[];
  readonly nodes: readonly string[];
  /** Null: the nodes were not waited for. */
  readonly report: ClusterSyncReport | null;
}

export const TEMPLATE_COMMANDS = {
  'template list': describe({
    about: 'all templates of the master',
    input: noInput,
    text: (templates: readonly (TemplateName & { readonly usedBy: readonly string[] })[], view) =>
      tableOf(
        view,
        ['GROUP', 'NAME', 'USED BY'],
        templates.map(({ group, name, usedBy }) => [group, name, usedBy.join(', ')]),
        'there are no templates: put directories into templates/<group>/<name>/',
      ),
    names: (templates) => templates.map(({ group, name }) => `${group}/${name}`),
  }),
  'template sync': describe({
    usage: '<pattern>',
    about: 'fetch templates ahead of need: group/name, group/* or *',
    declare: (command) => {
      command
        .option('-s, --storage <key>', 'download them from this storage provider first')
        .option('--no-wait', 'do not wait for the nodes');
    },
    input: (pattern: string, options: { readonly storage?: string; readonly wait: boolean }) => ({
      pattern,
      storage: options.storage ?? null,
      wait: options.wait,
    }),
    // With a report, print only the report: the run has printed the dispatch before it waited for the nodes.
    text: (sync: TemplateSync) =>
      sync.report === null ? describeDispatch(sync) : describeReport(sync.report).join('\n'),
    json: ({ report, ...sync }) => ({ ...sync, results: report?.nodes ?? null }),
    names: ({ templates }) => templates,
  }),
  'template progress': describe({
    about: 'the latest sync, node by node',
    input: noInput,
    text: (latest: ClusterSyncReport | null) =>
      latest === null
        ? 'no sync since the master started'
        : [`template sync ${latest.pattern}`, ...describeReport(latest)].join('\n'),
  }),
};

/** Says which templates are sent to which nodes. Printed as soon as that is known. */
export function describeDispatch({ downloaded, storage, templates, nodes }: TemplateSync): string {
  const shown = templates.slice(0, MAX_NAMES).join(', ') + (templates.length > MAX_NAMES ? ', ...' : '');
  const count = countText(templates.length, 'template');
  const target = nodes.length === 0 ? 'no node, because none is connected' : nodes.join(', ');
  return [
    ...downloaded.map(
      ({ group, name, files, bytes }) =>
        `downloaded ${group}/${name} from ${storage}: ${files} files, ${bytes} bytes`,
    ),
    `${count} (${shown}) on the way to ${target}`,
  ].join('\n');
}

function describeReport({ nodes, leftOut, isOver }: ClusterSyncReport): string[] {
  const more = isOver ? [] : ['Not all nodes are through: "template progress" shows how it goes.'];
  return [...leftOut.map((what) => `left out: ${what}`), ...nodes.map(describeNodeSync), ...more];
}
