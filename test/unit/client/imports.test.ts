/** Holds that the client loads no code of the daemon: its start would pay for it, and so would each completion. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { REPOSITORY } from '../../support/repository-root.js';

/** Small files without imports of the daemon's, or of schemas. */
const SHARED = new RegExp(
  [
    '^src/(?:client|command-tree|files|model/plain|watch-client)/',
    '^src/loop/(?:backoff|each-bounded|remembered)\\.ts$',
    '^src/model/(?:duration|errors|words)\\.ts$',
    '^src/model/access/(?:address-range|key-scopes|name-pattern)\\.ts$',
    '^src/(?:explain/health-states|operations/(?:log-point|shown-differences)|telemetry/(?:plain-text|secret-fields))\\.ts$',
    '^src/configuration-files/(?:file-warnings|nearest-name)\\.ts$',
    '^src/templates/library/(?:archive-check|invalid-archive|pack-zip|unpack-zip)\\.ts$',
    '^src/templates/sync/(?:node-sync-text|pattern)\\.ts$',
    '^src/templates/tree/(?:byte-stream|digest|open-directory|path-objection|program-file|remove-tree|system-error|tree)\\.ts$',
  ].join('|'),
);
const PACKAGES = new Set(['commander', 'leven', 'string-argv', 'ws', 'yaml', 'yauzl', 'yazl']);
/** Judges files as the daemon does, with its schemas. Only the commands on files load it, when they are called. */
const JUDGE = 'src/client/configurations/documents.ts';
const JUDGES_WITH =
  /^src\/configuration-files\/(?:directory|extends|file-names|json-position|parse|problems|warnings)\.ts$/;
const IMPORT = /^(?:import|export)\s+(?!type\b)(?:[\w$*\s{},]*?\sfrom\s+)?'([^']+)'/gm;
const DYNAMIC_IMPORT = /(?<!typeof )\bimport\('([^']+)'\)/g;

/** What a file loads when it runs, now or later: paths from the root, or names of packages. */
function loadedBy(file: string): string[] {
  const text = readFileSync(join(REPOSITORY, file), 'utf8').replace(/\/\*[\s\S]*?\*\//g, '');
  return [...text.matchAll(IMPORT), ...text.matchAll(DYNAMIC_IMPORT)].map(([, target = '']) =>
    target.startsWith('.') ? join(dirname(file), target).replace(/\.js$/, '.ts') : target,
  );
}

it('loads what it shares with the daemon only, however far one follows', () => {
  const waiting = readdirSync(join(REPOSITORY, 'src/client'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join('src/client', name));
  expect(waiting.length).toBeGreaterThan(10);
  const seen = new Set(waiting);
  const foreign: string[] = [];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop())
    for (const target of loadedBy(file)) {
      if (target.startsWith('node:') || PACKAGES.has(target) || seen.has(target)) continue;
      seen.add(target);
      if (SHARED.test(target)) waiting.push(target);
      else if (file === JUDGE && JUDGES_WITH.test(target)) continue;
      else foreign.push(`${file} loads ${target}`);
    }
  expect(foreign).toEqual([]);
});
