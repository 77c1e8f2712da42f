/** Reads what the manual says of each field of a configuration: its tables are the source for the schema of editors. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { REPOSITORY } from '../repository-root.js';

const TEMPLATE_LISTS = ['allOf', 'oneOf'];

/** The tables: the page, the text before it, and where its fields lie. */
const TABLES = [
  ['configuration.md', '| field | default | meaning and limits |', ['']],
  ['configuration.md', '| field | meaning |', ['']],
  ['configuration.md', '| field of a port |', ['ports.']],
  ['configuration.md', '| field of `readiness` |', ['readiness.']],
  ['configuration.md', '"strategy": "rolling", "maxSurge": 1,', ['update.']],
  ['starts.md', '| field of `fileEdits` |', ['fileEdits.']],
  ['starts.md', '| field of `prepare` and `after` |', ['prepare.', 'after.']],
  ['secrets.md', '| field of `secretFiles` |', ['secretFiles.']],
  ['starts.md', '| field of `limits` |', ['limits.']],
  ['jobs.md', '| field of `job` |', ['job.']],
  ['configuration.md', '| field of `waitsFor` |', ['waitsFor.']],
  ['liveness.md', '| field of `liveness` |', ['liveness.']],
  ['configuration.md', '| field of `schedules` |', ['schedules.']],
  ['configuration.md', '| field of `windows` |', ['windows.']],
  ['templates.md', '| field of `templateInstallationConfig` |', ['templateInstallationConfig.']],
  [
    'templates.md',
    '| field of a template |',
    TEMPLATE_LISTS.map((list) => `templateInstallationConfig.${list}.`),
  ],
] as const;

/** The meaning of each field, by its path, as plain text: `availablePorts.min`. */
export function fieldDescriptions(): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [page, begin, prefixes] of TABLES) {
    const text = readFileSync(join(REPOSITORY, 'docs', page), 'utf8');
    const table =
      text
        .slice(text.indexOf(begin))
        .replace(/^[\s\S]*?\n(?=\| `)/, '')
        .split(/\n(?!\|)/)[0] ?? '';
    for (const row of table.split('\n')) {
      const [, name = '', ...cells] = row.split(/ ?(?<!\\)\| ?/);
      for (const prefix of prefixes) found.set(prefix + name.replaceAll('`', ''), plain(cells.at(-2) ?? ''));
    }
  }
  return found;
}

function plain(markdown: string): string {
  return markdown
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/`|\*\*/g, '')
    .replaceAll('\\|', '|');
}
