/**
 * The package as its users get it: packed, installed into an empty directory and started there. What it depends on comes
 * from npm's cache, or from a registry. Needs `npm run build`.
 */
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { DaemonWorld, failedOf } from '../support/daemon/daemon.js';
import { until } from '../support/until.js';

vi.setConfig({ hookTimeout: 300_000 });

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url));
/** How npm says that a package is neither in its cache nor to be had. */
const NO_REGISTRY = /\b(?:ENOTCACHED|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH)\b/;

/** Of an operator's shell: what `npm test` set for this run must not help. */
const ENVIRONMENT = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));

const scratch = mkdtempSync(join(tmpdir(), 'drover-package-'));
const app = join(scratch, 'app');
let tarball = '';
/** Why nothing could be installed; undefined: it was. */
let obstacle: string | undefined;

async function npm(...words: readonly string[]): Promise<string> {
  const options = ['--prefer-offline', '--no-audit', '--no-fund', '--fetch-retries=0'];
  const { stdout } = await promisify(execFile)('npm', [...words, ...options], { cwd: app, env: ENVIRONMENT });
  return stdout;
}

beforeAll(async () => {
  mkdirSync(app);
  const printed = await npm('pack', REPOSITORY, '--ignore-scripts', '--json', '--pack-destination', scratch);
  tarball = join(
    scratch,
    z.array(z.object({ filename: z.string() })).parse(JSON.parse(printed))[0]?.filename ?? '',
  );
  try {
    await npm('install', tarball);
  } catch (error) {
    const text = String(error);
    if (!NO_REGISTRY.test(text)) throw error;
    obstacle = `npm has no registry, and its cache lacks a package: ${NO_REGISTRY.exec(text)?.[0]}`;
  }
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

it('holds the programs, their licences and the examples, and nothing of the tests', () => {
  const names = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).split('\n');
  expect(names).toEqual(
    expect.arrayContaining(
      [
        'package.json',
        'README.md',
        'LICENSE',
        'dist/main.js',
        'dist/owner-main.js',
        'dist/session-owner-main.js',
        'dist/THIRD-PARTY-LICENSES.txt',
        'configurations/hello.json',
        'templates/examples/hello/server.mjs',
      ].map((name) => `package/${name}`),
    ),
  );
  expect(names.filter((name) => /^package\/(?:test|build|src|node_modules)\//.test(name))).toEqual([]);
});

it('starts where it was installed, in a new root, and runs the example that it offers', async ({
  task,
  skip,
}) => {
  if (obstacle !== undefined) skip(obstacle);
  const program = join(app, 'node_modules/.bin/drover');
  expect(
    execFileSync('npx', ['drover', '--version'], { cwd: app, env: ENVIRONMENT, encoding: 'utf8' }),
  ).toMatch(/^\d+\.\d+\.\d+\n$/);
  const world = await DaemonWorld.create();
  try {
    world.spawn({ program });
    await until(() => expect(world.daemon.stdout).toContain('No instances yet'));
    const [copy = 'false'] = /^ *cp -r .*$/m.exec(world.daemon.stdout) ?? [];
    execFileSync('/bin/sh', ['-c', copy]);
    await world.untilOnline('hello', 2);
  } finally {
    await world.finish(failedOf(task));
  }
});

it('gives the command "drover" when it is installed for the whole machine', async ({ skip }) => {
  if (obstacle !== undefined) skip(obstacle);
  const prefix = join(scratch, 'prefix');
  // Compiled already by the test above; here only where things go.
  await npm('install', '--global', '--prefix', prefix, '--ignore-scripts', tarball);
  const printed = execFileSync(join(prefix, 'bin/drover'), ['--help'], { encoding: 'utf8', cwd: scratch });
  expect(printed).toMatch(/^Usage: drover /);
});
