/** Holds the layers of DESIGN §6: imports point down the table below, never up, in `src/` and `controllers/` alike. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Each part with its level, by the start of its path. A part imports itself and what lies on lower levels; what it may
 * import of its own level or above stands in EXCEPTIONS. The longest match counts.
 */
const LEVELS: Readonly<Record<string, number>> = {
  'src/model/': 0,
  'src/telemetry/': 0,
  'src/store/': 1,
  'src/loop/': 2,
  'src/templates/': 3,
  'src/logs/': 3,
  'src/runtime/': 3,
  'src/configuration-files/': 3,
  'src/channel/': 3,
  'src/node/': 3,
  'src/explain/': 3,
  'src/extensions/': 3,
  'src/api/': 4,
  'src/commands/': 4,
  'controllers/master/': 5,
  'controllers/wrapper/': 5,
  'src/master.ts': 6,
  'src/wrapper.ts': 6,
  'src/housekeeping.ts': 6,
  'src/daemon.ts': 7,
  'src/welcome.ts': 8,
  'src/terminal.ts': 8,
  'src/assembly.ts': 7,
  'src/member-node.ts': 7,
  'src/start-cluster.ts': 8,
  'src/start-member.ts': 9,
  'src/start-master.ts': 9,
  'src/start-wrapper.ts': 8,
  'src/token-command.ts': 8,
  'src/join-command.ts': 8,
  'src/start-daemon.ts': 10,
  'src/main.ts': 11,
};

interface Exception {
  /** Starts of paths. */
  readonly from: string;
  readonly to: string;
  readonly reason: string;
  readonly isTypesOnly?: boolean;
}

const EXCEPTIONS: readonly Exception[] = [
  {
    from: 'src/telemetry/',
    to: 'src/loop/',
    reason:
      'it counts what the loop tells of itself, and is on the lowest level so that everyone may import it',
    isTypesOnly: true,
  },
  {
    from: 'src/telemetry/',
    to: 'src/model/',
    reason: 'an audit entry is a noun of the model, and read back from its file',
  },
  {
    from: 'src/store/',
    to: 'src/loop/clock',
    reason: 'time is handed in everywhere, to the writers of instances too',
    isTypesOnly: true,
  },
  {
    from: 'src/node/',
    to: 'src/channel/messages',
    reason: 'a wrapper remembers assignments and reports as they travel',
  },
  {
    from: 'src/node/',
    to: 'src/configuration-files/',
    reason: 'config.json is read, judged and written like the files of configurations/',
  },
  {
    from: 'src/channel/',
    to: 'src/logs/log-batch',
    reason: 'a followed log travels as batches; both halves of the service speak of them',
    isTypesOnly: true,
  },
  { from: 'src/runtime/', to: 'src/channel/', reason: 'an installation fetches templates from the master' },
  { from: 'src/runtime/', to: 'src/node/desired-copy', reason: 'an installation is of what is desired' },
  { from: 'src/runtime/', to: 'src/templates/', reason: 'working directories are made from templates' },
  { from: 'src/runtime/', to: 'src/logs/', reason: 'every runtime writes and reads the one log store' },
  { from: 'src/extensions/', to: 'src/runtime/', reason: 'an extension may bring a runtime and variables' },
  { from: 'src/extensions/', to: 'src/templates/', reason: 'an extension may bring a storage of templates' },
  { from: 'src/extensions/', to: 'src/logs/', reason: "an extension's runtime writes the one log store too" },
  {
    from: 'src/extensions/',
    to: 'src/configuration-files/',
    reason: 'settings of extensions are read and judged like the other JSON files',
  },
];

/** The composition roots: nothing else in `src/` imports `controllers/`, and each imports one half. */
const ROOTS: Readonly<Record<string, string>> = {
  'src/master.ts': 'controllers/master/',
  'src/wrapper.ts': 'controllers/wrapper/',
};

/** Parts that know nothing of each other although the levels would allow it. */
const APART: readonly (readonly [from: string, to: string])[] = [
  // Master and wrapper meet in the channel's messages only.
  ['controllers/master/', 'src/node/'],
  ['controllers/master/', 'src/runtime/'],
  ['controllers/master/', 'src/logs/'],
  ['controllers/wrapper/', 'src/store/'],
  ['controllers/wrapper/', 'src/api/'],
  ['src/master.ts', 'src/node/'],
  ['src/master.ts', 'src/runtime/'],
  ['src/wrapper.ts', 'src/api/'],
  ['src/wrapper.ts', 'src/configuration-files/'],
];

interface Import {
  /** Path of the target from the root, or the name of a package. */
  readonly target: string;
  readonly isTypeOnly: boolean;
}

const IMPORT = /^[ \t]*(?:import|export)\s+(type\s+)?(?:[\w$*\s{},]*?\sfrom\s+)?'([^']+)'/gm;
const DYNAMIC_IMPORT = /\bimport\(\s*'([^']+)'/g;

/** What a file imports, re-exports or loads; biome keeps import statements in this form. */
function importsOf(file: string, text: string): Import[] {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '');
  const found = [...code.matchAll(IMPORT)].map(([, type, target = '']) => ({
    target,
    isTypeOnly: type !== undefined,
  }));
  const loaded = [...code.matchAll(DYNAMIC_IMPORT)].map(([, target = '']) => ({ target, isTypeOnly: false }));
  return [...found, ...loaded].map(({ target, isTypeOnly }) => ({
    target: target.startsWith('.') ? join(dirname(file), target) : target,
    isTypeOnly,
  }));
}

function partOf(path: string): string | undefined {
  const file = path.replace(/\.js$/, '.ts');
  return Object.keys(LEVELS)
    .filter((part) => file.startsWith(part))
    .toSorted((a, b) => b.length - a.length)[0];
}

/** Each import of `text` that points the wrong way, as `file imports target: reason`. */
function violationsIn(file: string, text: string): string[] {
  return importsOf(file, text).flatMap((entry) => {
    const problem = problemOf(file, entry);
    return problem === undefined ? [] : [`${file} imports ${entry.target}: ${problem}`];
  });
}

function problemOf(file: string, { target, isTypeOnly }: Import): string | undefined {
  if (!/^(src|controllers|test)\//.test(target)) return undefined;
  const from = partOf(file);
  const to = partOf(target);
  if (from === undefined || to === undefined)
    return `${from === undefined ? file : target} belongs to no layer; add it to test/unit/layers.test.ts`;
  const isHalf = target.startsWith(ROOTS[file] ?? 'controllers/') && file in ROOTS;
  if (to.startsWith('controllers/') && file.startsWith('src/'))
    return isHalf
      ? undefined
      : `only ${Object.keys(ROOTS).join(' and ')} import controllers, each its own half`;
  if (APART.some(([a, b]) => from.startsWith(a) && to.startsWith(b))) return `${from} must not know ${to}`;
  if (from === to) return undefined;
  const exception = EXCEPTIONS.find((known) => from === known.from && target.startsWith(known.to));
  if (exception !== undefined)
    return exception.isTypesOnly === true && !isTypeOnly ? 'only its types may be imported' : undefined;
  if (to === 'src/telemetry/') return undefined;
  return levelOf(to) < levelOf(from) ? undefined : `${from} lies below or beside ${to}`;
}

function levelOf(part: string): number {
  return LEVELS[part] ?? Number.NaN;
}

function sourceFiles(): string[] {
  return ['src', 'controllers'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
      .map((entry) => relative(ROOT, join(entry.parentPath, entry.name))),
  );
}

describe('the layers', () => {
  const files = sourceFiles().map((file) => ({ file, text: readFileSync(join(ROOT, file), 'utf8') }));

  it('hold in every file of src and controllers', () => {
    expect(files.length).toBeGreaterThan(100);
    expect(files.flatMap(({ file, text }) => violationsIn(file, text))).toEqual([]);
  });

  it('have no exception that nothing needs any more', () => {
    const unused = EXCEPTIONS.filter(({ from, to }) =>
      files.every(({ file, text }) =>
        importsOf(file, text).every(({ target }) => partOf(file) !== from || !target.startsWith(to)),
      ),
    );
    expect(unused).toEqual([]);
  });
});

describe('the check of the layers', () => {
  it.each([
    ['src/model/instance.ts', "import { Mirror } from '../store/mirror.js';"],
    ['src/store/watch.ts', "import { Controller } from '../loop/controller.js';"],
    ['src/store/watch.ts', "import { setTimer } from '../loop/clock.js';"],
    ['src/telemetry/metrics.ts', "import { Conflict } from '../loop/reconciler.js';"],
    ['src/loop/round.ts', "import type { Hub } from '../channel/hub.js';"],
    ['src/templates/cache.ts', "import { Workspaces } from '../runtime/workspace.js';"],
    ['src/channel/link.ts', "import type { HandleBook } from '../node/handle-book.js';"],
    ['src/channel/link.ts', "export * from '../api/route.js';"],
    ['src/api/server.ts', "import { plan } from '../../controllers/master/placement/plan.js';"],
    ['src/start-daemon.ts', "import { plan } from '../controllers/master/placement/plan.js';"],
    ['src/master.ts', "import { plan } from '../controllers/wrapper/process-supervisor/plan.js';"],
    ['src/api/server.ts', "const { Master } = await import('../master.js');"],
    ['src/master.ts', "import { Wrapper } from './wrapper.js';"],
    ['src/wrapper.ts', "import {\n  type A,\n  b,\n} from './start-daemon.js';"],
    ['controllers/master/register.ts', "import type { Handle } from '../../src/node/handle-book.js';"],
    ['controllers/master/register.ts', "import { a } from '../wrapper/register.js';"],
    ['controllers/wrapper/register.ts', "import '../../src/master.js';"],
    ['src/loop/round.ts', "import { FakeClock } from '../../test/support/fake-clock.js';"],
    ['src/novelty/part.ts', "import { DroverError } from '../model/errors.js';"],
  ])('refuses, in %s: %s', (file, text) => {
    expect(violationsIn(file, text)).toEqual([expect.stringContaining(`${file} imports `)]);
  });

  it.each([
    ['src/store/watch.ts', "import type { Clock } from '../loop/clock.js';"],
    ['src/telemetry/metrics.ts', "import type { Outcome } from '../loop/reconciler.js';"],
    ['src/model/instance.ts', "import { z } from 'zod';"],
    ['src/loop/round.ts', "import type { Logger } from '../telemetry/logger.js';"],
    ['src/master.ts', "import { plan } from '../controllers/master/placement/plan.js';"],
    ['controllers/wrapper/register.ts', "import type { Runtime } from '../../src/runtime/runtime.js';"],
    ['src/main.ts', "import { startDaemon } from './start-daemon.js';"],
    ['src/loop/round.ts', "/* import { Hub } from '../channel/hub.js'; */"],
  ])('allows, in %s: %s', (file, text) => {
    expect(violationsIn(file, text)).toEqual([]);
  });
});
