/** Holds the layers of DESIGN §6: imports point down the table below, never up, in `src/`, `controllers/` and `tools/` alike. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { REPOSITORY } from '../../support/repository-root.js';

/**
 * The rooms of the house, from the top floor to the ground. A file imports its own room and rooms further down this
 * list, nothing else. A room is the start of a path; where two match, the longer one counts.
 */
const ROOMS: readonly string[] = [
  'src/dashboard/',
  'src/main.ts',
  'src/cli/',
  'tools/import/',
  'src/client/',
  'src/watch-client/',
  'src/daemon/',
  'src/master.ts',
  'src/master-term.ts',
  'src/wrapper.ts',
  'controllers/master/',
  'controllers/wrapper/',
  'src/console/',
  'src/command-tree/',
  'src/api/',
  'src/operations/',
  'src/extensions/',
  'src/runtime/',
  'src/node/',
  'src/explain/',
  'src/access/',
  'src/channel/',
  'src/configuration-files/',
  'src/templates/',
  'src/git/',
  'src/views/',
  'src/logs/',
  'src/leadership/',
  'src/state/',
  'src/store/etcd/',
  'src/store/lmdb/',
  'src/store/',
  'src/telemetry/',
  'src/files/',
  'src/loop/',
  'src/model/',
];

/** The composition roots: nothing else in `src/` imports `controllers/`, and each imports one half. */
const ROOTS: Readonly<Record<string, string>> = {
  'src/master-term.ts': 'controllers/master/',
  'src/daemon/sole-files.ts': 'controllers/master/',
  'src/daemon/several-masters.ts': 'controllers/master/',
  'src/wrapper.ts': 'controllers/wrapper/',
};

/** Parts that know nothing of each other although the levels would allow it. */
const APART: readonly (readonly [from: string, to: string])[] = [
  // Master and wrapper meet in the channel's messages only.
  ['controllers/master/', 'controllers/wrapper/'],
  ['controllers/master/', 'src/node/'],
  ['controllers/master/', 'src/runtime/'],
  ['controllers/master/', 'src/logs/'],
  ['controllers/wrapper/', 'src/store/'],
  ['controllers/wrapper/', 'src/api/'],
  ['src/channel/wrapper/', 'src/channel/master/'],
  ['src/channel/protocol/', 'src/channel/trust/'],
  ['src/api/http/', 'src/api/gate/'],
  ['src/templates/tree/', 'src/templates/transfer/'],
  ['src/dashboard/parts/', 'src/dashboard/app/'],
  ['src/master.ts', 'src/node/'],
  ['src/master.ts', 'src/runtime/'],
  ['src/master-term.ts', 'src/node/'],
  ['src/master-term.ts', 'src/runtime/'],
  ['src/client/', 'src/daemon/'],
  ['src/client/', 'src/console/'],
  ['src/client/', 'src/store/'],
  ['src/client/', 'src/channel/'],
  ['src/wrapper.ts', 'src/api/'],
  ['src/wrapper.ts', 'src/configuration-files/'],
];

const DASHBOARD = 'src/dashboard/';

/** The files outside the dashboard that the page loads. They load nothing but each other, so that they run in a browser. */
const ON_THE_PAGE = [
  'src/watch-client/',
  'src/loop/backoff.js',
  'src/model/plain/shown-pair.js',
  'src/model/plain/cluster-colors.js',
  'src/model/json-object.js',
  'src/model/access/key-scopes.js',
  'src/model/plain/attempt.js',
  'src/model/plain/counted-down.js',
  'src/model/plain/deed.js',
  'src/model/plain/duration-text.js',
  'src/model/plain/host-port.js',
  'src/model/plain/name.js',
  'src/model/plain/run-failure.js',
  'src/model/plain/surplus.js',
  'src/model/plain/template-fault.js',
  'src/explain/concerns.js',
  'src/explain/health-states.js',
  'src/model/plain/may-be-secret.js',
];

/** A folder with more files than this needs a reason, or holds two ideas. */
const MOST_FILES = 30;

const IMPORT = /^[ \t]*(?:import|export)\s+(type\s+)?(?:[\w$*\s{},]*?\sfrom\s+)?'([^']+)'/gm;
const DYNAMIC_IMPORT = /\bimport\(()\s*'([^']+)'/g;

interface Import {
  /** A path from the root, or the name of a package. */
  readonly target: string;
  /** True for `import type`, of which nothing is left at run time. */
  readonly isType: boolean;
}

/** Everything that a file imports, re-exports or loads. Biome keeps import statements in this form. */
function importsOf(file: string, text: string): Import[] {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '');
  return [...code.matchAll(IMPORT), ...code.matchAll(DYNAMIC_IMPORT)].map(([, type, target = '']) => ({
    target: target.startsWith('.') ? join(dirname(file), target) : target,
    isType: type !== undefined && type !== '',
  }));
}

function roomOf(path: string): string | undefined {
  const file = path.replace(/\.js$/, '.ts');
  return ROOMS.filter((room) => file.startsWith(room)).toSorted((a, b) => b.length - a.length)[0];
}

function isOnPage(path: string): boolean {
  return ON_THE_PAGE.some((part) => path.replace(/\.ts$/, '.js').startsWith(part));
}

/** Each import of `text` that points the wrong way, as `file imports target: reason`. */
function violationsIn(file: string, text: string): string[] {
  return importsOf(file, text).flatMap((imported) => {
    const problem = problemOf(file, imported);
    return problem === undefined ? [] : [`${file} imports ${imported.target}: ${problem}`];
  });
}

function problemOf(file: string, { target, isType }: Import): string | undefined {
  if (isOnPage(file) && !isType && !isOnPage(target))
    return 'the page loads this file: it imports types only';
  if (!/^(src|controllers|tools|test)\//.test(target)) return undefined;
  const from = roomOf(file);
  const to = roomOf(target);
  if (target.startsWith(DASHBOARD) && !file.startsWith(DASHBOARD)) return 'the dashboard stands alone';
  if (from === undefined || to === undefined)
    return `${from === undefined ? file : target} belongs to no room; add it to test/unit/repository/layers.test.ts`;
  // The dashboard is another program, in a browser: it has types of the server, and no code.
  if (file.startsWith(DASHBOARD) && !target.startsWith(DASHBOARD))
    return isType || isOnPage(target) ? undefined : 'the dashboard has types of the server only';
  const isHalf = target.startsWith(ROOTS[file] ?? 'controllers/') && file in ROOTS;
  if (to.startsWith('controllers/') && file.startsWith('src/'))
    return isHalf
      ? undefined
      : `only ${Object.keys(ROOTS).join(' and ')} import controllers, each its own half`;
  const apart = APART.find(([a, b]) => file.startsWith(a) && target.startsWith(b));
  if (apart !== undefined) return `${apart[0]} must not know ${apart[1]}`;
  if (from === to) return undefined;
  return ROOMS.indexOf(to) > ROOMS.indexOf(from) ? undefined : `${from} lies below ${to}`;
}

function sourceFiles(): string[] {
  return ['src', 'controllers', 'tools'].flatMap((folder) =>
    readdirSync(join(REPOSITORY, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
      .map((entry) => relative(REPOSITORY, join(entry.parentPath, entry.name))),
  );
}

describe('the layers', () => {
  const files = sourceFiles().map((file) => ({ file, text: readFileSync(join(REPOSITORY, file), 'utf8') }));

  it('hold in every file of src, controllers and tools', () => {
    expect(files.length).toBeGreaterThan(100);
    expect(files.flatMap(({ file, text }) => violationsIn(file, text))).toEqual([]);
  });

  it('have no room that is empty or too full to show its plan', () => {
    const counts = new Map(ROOMS.map((room) => [room, 0]));
    const folders = new Map<string, number>();
    for (const { file } of files) {
      const room = roomOf(file) ?? '';
      counts.set(room, (counts.get(room) ?? 0) + 1);
      folders.set(dirname(file), (folders.get(dirname(file)) ?? 0) + 1);
    }
    expect([...counts].filter(([, count]) => count === 0)).toEqual([]);
    expect([...folders].filter(([, count]) => count > MOST_FILES)).toEqual([]);
  });
});

describe('the check of the layers', () => {
  it.each([
    ['src/model/instance.ts', "import { Mirror } from '../store/mirror.js';"],
    ['src/store/watch.ts', "import { Hub } from '../channel/master/hub.js';"],
    ['src/store/mirror.ts', "import { LmdbStore } from './lmdb/lmdb-store.js';"],
    ['src/loop/round.ts', "import type { Hub } from '../channel/master/hub.js';"],
    ['src/loop/round.ts', "import type { Logger } from '../telemetry/logger.js';"],
    [
      'src/templates/transfer/cache.ts',
      "import { Workspaces } from '../../runtime/installation/workspace.js';",
    ],
    ['src/templates/tree/tree.ts', "import { Bundle } from '../transfer/bundle.js';"],
    ['src/channel/wrapper/link.ts', "import type { HandleBook } from '../../node/handle-book.js';"],
    ['src/channel/wrapper/link.ts', "export * from '../../api/http/route.js';"],
    ['src/channel/wrapper/link.ts', "import type { Hub } from '../master/hub.js';"],
    ['src/api/http/route.ts', "import { Gate } from '../gate/auth.js';"],
    ['src/api/server.ts', "import { plan } from '../../controllers/master/placement/plan.js';"],
    ['src/api/server.ts', "import { Commands } from '../console/commands.js';"],
    ['src/api/server.ts', "const { Master } = await import('../master.js');"],
    ['src/daemon/start-daemon.ts', "import { plan } from '../../controllers/master/placement/plan.js';"],
    ['src/master-term.ts', "import { plan } from '../controllers/wrapper/process-supervisor/plan.js';"],
    ['src/wrapper.ts', "import { Master } from './master.js';"],
    ['src/wrapper.ts', "import { \n  type A, \n  b, \n } from './daemon/start-daemon.js';"],
    ['controllers/master/register.ts', "import type { Handle } from '../../src/node/handle-book.js';"],
    ['controllers/master/register.ts', "import { a } from '../wrapper/register.js';"],
    ['controllers/wrapper/register.ts', "import '../../src/master.js';"],
    ['src/loop/round.ts', "import { FakeClock } from '../../test/support/fake-clock.js';"],
    ['src/dashboard/main.tsx', "import { instanceInfoSchema } from '../model/instance.js';"],
    ['src/dashboard/main.tsx', "import { type InstanceInfo } from '../model/instance.js';"],
    ['src/dashboard/main.tsx', "import '../model/instance.js';"],
    ['src/dashboard/main.tsx', "const model = await import('../model/instance.js');"],
    ['src/dashboard/main.tsx', "import type { FakeClock } from '../../test/support/fake-clock.js';"],
    ['src/watch-client/topics.ts', "import { instanceInfoSchema } from '../model/instance.js';"],
    ['src/watch-client/messages.ts', "import { setTimeout } from 'node:timers/promises';"],
    ['src/api/server.ts', "import { text } from '../dashboard/app/text.js';"],
    ['src/dashboard/parts/page.tsx', "import { SCREENS } from '../app/screens.js';"],
    ['src/novelty/part.ts', "import { DroverError } from '../model/errors.js';"],
  ])('refuses, in %s: %s', (file, text) => {
    expect(violationsIn(file, text)).toEqual([expect.stringContaining(`${file} imports `)]);
  });

  it.each([
    ['src/store/watch.ts', "import type { Clock } from '../loop/clock.js';"],
    ['src/telemetry/metrics.ts', "import type { Outcome } from '../loop/reconciler.js';"],
    ['src/model/instance.ts', "import { z } from 'zod';"],
    ['src/master-term.ts', "import { plan } from '../controllers/master/placement/plan.js';"],
    ['controllers/wrapper/register.ts', "import type { Runtime } from '../../src/runtime/runtime.js';"],
    ['src/main.ts', "import { startDaemon } from './daemon/start-daemon.js';"],
    ['src/dashboard/main.tsx', "import type { InstanceInfo } from '../model/instance.js';"],
    ['src/dashboard/main.tsx', "import { parseFrame } from '../watch-client/messages.js';"],
    ['src/watch-client/topics.ts', "import type { InstanceInfo } from '../model/instance.js';"],
    ['src/loop/round.ts', "/* import { Hub } from '../channel/master/hub.js'; */"],
  ])('allows, in %s: %s', (file, text) => {
    expect(violationsIn(file, text)).toEqual([]);
  });
});
