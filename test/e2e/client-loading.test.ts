/** What the executable loads for the help and for a command of the client: nothing of the daemon. Needs the bundle. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { REPOSITORY } from '../support/repository-root.js';

const DIST = join(REPOSITORY, 'dist');
const STATIC_IMPORT = /(?:^|[;}\n])(?:import|export)(?:[\w$*\s{},]*?from)?\s*["'](\.[^"']+)["']/g;
const mapSchema = z.object({ sources: z.array(z.string()) });

/** The files of the bundle that load with `file`, itself included. */
function filesLoadedWith(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const [, target = ''] of readFileSync(file, 'utf8').matchAll(STATIC_IMPORT))
    filesLoadedWith(join(dirname(file), target), seen);
  return seen;
}

/** The modules in these files, from the root of the repository. */
function modulesOf(files: Iterable<string>): string[] {
  return [...files].flatMap((file) => {
    const map = `${file}.map`;
    // The bundler's own runtime has none.
    if (!existsSync(map)) return [];
    const { sources } = mapSchema.parse(JSON.parse(readFileSync(map, 'utf8')));
    return sources.map((source) => source.replace(/^(?:\.\.\/)+/, ''));
  });
}

const MAIN = join(DIST, 'main.js');

/** The chunk that the executable loads for a module when it is first used. Older builds leave others beside it. */
function chunkOf(name: string): string {
  for (const file of filesLoadedWith(MAIN)) {
    const target = new RegExp(`import\\(["'\`](\\./[^"'\`]*${name}-[^"'\`]+)`).exec(
      readFileSync(file, 'utf8'),
    )?.[1];
    if (target !== undefined) return join(dirname(file), target);
  }
  throw new Error(`the executable loads no chunk ${name}`);
}

/** Rooms of the daemon, apart from files that import nothing of them. */
const DAEMON =
  /^(?:controllers|src\/(?:daemon|master|wrapper|commands|api|operations\/(?!log-point|shown-differences)|channel|store|runtime|node|extensions|loop\/(?!backoff|remembered)))\b/;
const packagesOf = (modules: readonly string[]): string[] => [
  ...new Set(
    modules.flatMap((module) => /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(module)?.[1] ?? []),
  ),
];

it.each([
  ['the help', () => MAIN],
  ['a command', () => chunkOf('command-runs')],
  ['logs', () => chunkOf('logs')],
  ['wait', () => chunkOf('wait')],
  ['a list that is watched', () => chunkOf('watch-list')],
])('loads nothing of the daemon, and no schemas, for %s', (_what, file) => {
  const modules = modulesOf(filesLoadedWith(file()));
  expect(modules.some((module) => module.startsWith('src/'))).toBe(true);
  expect(modules.filter((module) => DAEMON.test(module))).toEqual([]);
  expect(packagesOf(modules).filter((name) => !['commander', 'leven'].includes(name))).toEqual([]);
});

it('loads the schemas of configurations, and nothing else of the daemon, to judge files', () => {
  const modules = modulesOf(filesLoadedWith(chunkOf('file-runs')));
  expect(modules).toContain('src/model/configuration.ts');
  expect(modules.filter((module) => DAEMON.test(module))).toEqual([]);
  const packages = packagesOf(modules);
  expect(packages).toContain('zod');
  // The parser stands in a chunk that others use, too, or not.
  expect(packages.filter((name) => !['commander', 'croner', 'leven', 'zod'].includes(name))).toEqual([]);
});

it('loads few files for the help, and other programs load none of them', () => {
  expect(filesLoadedWith(MAIN).size).toBeLessThan(6);
  for (const program of ['owner', 'session-owner', 'pack-thread', 'certificate-thread'])
    expect(
      [...filesLoadedWith(join(DIST, `${program}-main.js`))].filter((file) => /\/start-/.test(file)),
      program,
    ).toEqual([]);
});

it('would see the daemon', () => {
  const modules = modulesOf(filesLoadedWith(chunkOf('start-command')));
  expect(modules.some((module) => DAEMON.test(module))).toBe(true);
  expect(packagesOf(modules)).toContain('zod');
});
