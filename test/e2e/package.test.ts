/**
 * The package as its users get it: packed, installed for the whole machine as docs/operations.md says, and started.
 * What it depends on comes from npm's cache, or from a registry. Needs `npm run build`.
 */
import { execFile, execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { DaemonWorld, failedOf } from '../support/daemon/daemon.js';
import { REPOSITORY } from '../support/repository-root.js';
import { until } from '../support/until.js';

vi.setConfig({ hookTimeout: 300_000 });

const PROGRAMS = [
  'main.js',
  'owner-main.js',
  'session-owner-main.js',
  'pack-thread-main.js',
  'certificate-thread-main.js',
  'edit-thread-main.js',
  'loop-thread-main.js',
];
/** All that a package may hold; `dist/` has the programs, what they load, and maps. */
const PACKED =
  /^package\/(?:package\.json|(?:README|CHANGELOG|CONTRIBUTING|SECURITY)\.md|LICENSE|controllers\/(?:README|reference)\.md|configurations\/hello\.json|templates\/examples\/hello\/[\w.-]+|docs\/(?:[\w-]+\.md|plots\/[\w-]+\.svg|pictures\/[\w-]+\.png)|manifests\/[\w./-]+|dist\/(?:THIRD-PARTY-LICENSES\.txt|bom\.cdx\.json|dashboard\/(?:index\.html|THIRD-PARTY-LICENSES\.txt(?:\.(?:br|gz))?|assets\/[\w.-]+)|(?:(?:owner-|session-owner-|pack-thread-|certificate-thread-|edit-thread-|loop-thread-)?main|chunks\/[\w.-]+)\.js(?:\.map)?))$/;
/** How npm says that a package is neither in its cache nor to be had. */
const NO_REGISTRY = /\b(?:ENOTCACHED|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH)\b/;

/** Of an operator's shell: what `npm test` set for this run must not help. */
const ENVIRONMENT = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));

const scratch = mkdtempSync(join(tmpdir(), 'drover-package-'));
const checkout = join(scratch, 'checkout');
const prefix = join(scratch, 'prefix');
const program = join(prefix, 'bin/drover');
let tarball = '';
/** Why nothing could be installed; undefined: it was. */
let obstacle: string | undefined;

async function npm(cwd: string, ...words: readonly string[]): Promise<string> {
  const options = ['--prefer-offline', '--no-audit', '--no-fund', '--fetch-retries=0'];
  const { stdout } = await promisify(execFile)('npm', [...words, ...options], { cwd, env: ENVIRONMENT });
  return stdout;
}

/** As `prepack` would leave it, without a second build. Our `dist/` may hold chunks of earlier ones; it gets another. */
function copyCheckout(): void {
  const { files } = z
    .object({ files: z.array(z.string()) })
    .parse(JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8')));
  for (const path of [...files, 'package.json', 'README.md', 'LICENSE'])
    if (existsSync(join(REPOSITORY, path)))
      cpSync(join(REPOSITORY, path), join(checkout, path), { recursive: true });
  writeFileSync(join(checkout, 'dist/chunks/earlier-00000000.js'), '');
  appendFileSync(join(checkout, 'dist/chunks/.npmignore'), 'earlier-00000000.js\n');
}

/** These files of the bundle and all that they load, now or later. */
function loadedFrom(paths: readonly string[]): string[] {
  const found = new Set(paths);
  for (const path of found)
    for (const [, target = ''] of readFileSync(join(REPOSITORY, path), 'utf8').matchAll(
      /["'`](\.\.?\/[\w./-]+\.js)["'`]/g,
    )) {
      const loaded = join(dirname(path), target);
      if (existsSync(join(REPOSITORY, loaded))) found.add(loaded);
    }
  return [...found];
}

/** A node whose root is the checkout has such files. */
function addFilesOfOperator(): void {
  for (const path of [
    'configurations/secret.json',
    'templates/own/secret/file',
    'config.json',
    'data/admin.key',
  ]) {
    mkdirSync(dirname(join(checkout, path)), { recursive: true });
    writeFileSync(join(checkout, path), '{}');
  }
}

beforeAll(async () => {
  copyCheckout();
  addFilesOfOperator();
  const printed = await npm(checkout, 'pack', '--ignore-scripts', '--json', '--pack-destination', scratch);
  const [packed] = z.array(z.object({ filename: z.string() })).parse(JSON.parse(printed));
  tarball = join(scratch, packed?.filename ?? '');
  const page = readFileSync(join(REPOSITORY, 'docs/operations.md'), 'utf8');
  const [, words = ''] = /^ *npm (install -g .*) \.\/drover-\*\.tgz$/m.exec(page) ?? [];
  try {
    await npm(checkout, ...words.split(' '), '--prefix', prefix, tarball);
  } catch (error) {
    const text = String(error);
    if (!NO_REGISTRY.test(text)) throw error;
    obstacle = `npm has no registry, and its cache lacks a package: ${NO_REGISTRY.exec(text)?.[0]}`;
  }
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

it('holds the programs, the dashboard, their licences, the pages and the examples, and nothing else', () => {
  const names = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).trim().split('\n');
  expect(names).toEqual(
    expect.arrayContaining(
      [
        'package.json',
        'README.md',
        'CHANGELOG.md',
        'CONTRIBUTING.md',
        'SECURITY.md',
        'LICENSE',
        ...PROGRAMS.map((name) => `dist/${name}`),
        'dist/main.js.map',
        'dist/THIRD-PARTY-LICENSES.txt',
        'dist/dashboard/index.html',
        'configurations/hello.json',
        'templates/examples/hello/server.mjs',
      ].map((name) => `package/${name}`),
    ),
  );
  expect(names.filter((name) => !PACKED.test(name))).toEqual([]);
  const isProgram = /^package\/(dist\/.*main\.js|dist\/chunks\/.*\.js)$/;
  const programs = names.flatMap((name) => isProgram.exec(name)?.[1] ?? []);
  expect(programs.toSorted()).toEqual(loadedFrom(PROGRAMS.map((name) => `dist/${name}`)).toSorted());
});

it('lists what the bundles hold, in the form of CycloneDX: all that its licences name, and what must not be missing', () => {
  const list = z
    .object({
      bomFormat: z.literal('CycloneDX'),
      specVersion: z.string(),
      metadata: z.object({ component: z.object({ name: z.literal('drover'), version: z.string() }) }),
      components: z.array(
        z.object({
          type: z.literal('library'),
          name: z.string(),
          version: z.string(),
          purl: z.string().startsWith('pkg:npm/'),
          licenses: z.array(z.object({ expression: z.string() })),
        }),
      ),
    })
    .parse(
      JSON.parse(execFileSync('tar', ['-xzOf', tarball, 'package/dist/bom.cdx.json'], { encoding: 'utf8' })),
    );
  const listed = list.components.map(({ name, version }) => `${name} ${version}`);
  const licensed = ['dist', 'dist/dashboard'].flatMap((folder) =>
    readFileSync(join(REPOSITORY, folder, 'THIRD-PARTY-LICENSES.txt'), 'utf8').match(
      /^\S+ \d\S+(?= \(.+\)$)/gm,
    ),
  );
  expect(listed.toSorted()).toEqual([...new Set(licensed)].toSorted());
  const names = list.components.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['fastify', 'preact', 'ws', 'zod']));
});

it('starts where it was installed, in a new root, and runs the example that it offers', async ({ skip }) => {
  if (obstacle !== undefined) skip(obstacle);
  expect(execFileSync(program, ['--version'], { encoding: 'utf8' })).toMatch(/^\d+\.\d+\.\d+\n$/);
  const world = await newWorld();
  world.spawn({ program });
  await until(() => expect(world.daemon.stdout).toContain('No instances yet'));
  const [copy = 'false'] = /^ *cp -r .*$/m.exec(world.daemon.stdout) ?? [];
  execFileSync('/bin/sh', ['-c', copy]);
  await world.untilOnline('hello', 2);
  const page = await fetch(`http://127.0.0.1:${world.apiPort}/ui/`);
  expect(await page.text()).toContain('<title>Drover</title>');
});

it('starts by npx in the directory that it was installed in, which becomes a root', async ({ skip }) => {
  if (obstacle !== undefined) skip(obstacle);
  const world = await newWorld();
  // Without their scripts, which it does not need.
  // A file or folder of npm in a directory above would draw the installation there, hence the prefix.
  await npm(world.root, 'install', '--ignore-scripts', '--prefix', world.root, tarball);
  const found = execFileSync('npx', ['--no', '--', 'drover', '--version'], {
    cwd: world.root,
    env: ENVIRONMENT,
    encoding: 'utf8',
  });
  expect(found).toMatch(/^\d+\.\d+\.\d+\n$/);
  // The file that npx starts: as a child of npx the daemon would have another pid than the one that is ended here.
  world.spawn({ program: join(world.root, 'node_modules/.bin/drover') });
  await until(() => expect(world.daemon.stdout).toContain('No instances yet'));
  expect(world.daemon.stdout).toContain(`in ${world.root}\n`);
});

/** Ends with the test, and shows what the daemon said when that has failed. */
async function newWorld(): Promise<DaemonWorld> {
  const world = await DaemonWorld.create();
  onTestFinished(({ task }) => world.finish(failedOf(task)));
  return world;
}
