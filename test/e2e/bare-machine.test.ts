/**
 * `npm ci && npm start` on a machine with Node.js and no compiler: a copy of the checkout, in a mount namespace that hides
 * what npm would compile with. Needs root, and npm's cache or a registry.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { DaemonWorld, failedOf } from '../support/daemon/daemon.js';
import { REPOSITORY } from '../support/repository-root.js';

vi.setConfig({ testTimeout: 600_000 });

const HIDDEN = ['make', 'cc', 'gcc', 'g++', 'c++', 'clang', 'python', 'python3'];
const NO_REGISTRY = /\b(?:ENOTCACHED|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH)\b/;
/** What `npm test` set for this run must not help. */
const ENVIRONMENT = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));

/** Lies over each hidden program: a plain file that nobody may run. */
const HIDE = `set -e
: > "$0"; chmod 000 "$0"
for name in ${HIDDEN.join(' ')}; do
  for found in $(type -ap "$name" | xargs -r realpath | sort -u); do mount --bind "$0" "$found"; done
  if command -v "$name" >/dev/null && "$name" --version >/dev/null 2>&1; then echo "$name still runs"; exit 3; fi
done
exec "$@"`;

const scratch = mkdtempSync(join(tmpdir(), 'drover-bare-'));
const checkout = join(scratch, 'checkout');
const hiding = ['--mount', '--', 'bash', '-c', HIDE, join(scratch, 'hidden')];
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

it('installs and starts an instance where nothing can be compiled', async ({ skip, task }) => {
  const { status, stderr } = spawnSync('unshare', [...hiding, 'true'], { encoding: 'utf8' });
  if (status !== 0) skip(`no programs can be hidden here, which root may: ${stderr}`);
  copyCheckout();
  const options = ['--prefer-offline', '--no-audit', '--no-fund'];
  const installed = spawnSync('unshare', [...hiding, 'npm', 'ci', ...options], {
    cwd: checkout,
    env: ENVIRONMENT,
    encoding: 'utf8',
  });
  if (NO_REGISTRY.test(installed.stderr)) skip(`npm has no registry: ${installed.stderr}`);
  expect(installed).toMatchObject({ status: 0 });

  // `npm start` in two steps, so that the daemon is a child of this test and not of npm.
  execFileSync('unshare', [...hiding, 'npm', 'run', 'prestart'], { cwd: checkout, env: ENVIRONMENT });
  const world = await DaemonWorld.create();
  try {
    world.configure('web', { command: 'echo up; exec sleep 1000', minimumServiceCount: 1 });
    world.spawn({ prefix: ['unshare', ...hiding], program: join(checkout, 'dist/main.js') });
    const [instance] = await world.untilOnline('web', 1);
    await world.untilLogged(instance?.id ?? '', /^up$/);
  } finally {
    await world.finish(failedOf(task));
  }
});

/** What is in the repository, as it lies here now. */
function copyCheckout(): void {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: REPOSITORY,
    encoding: 'utf8',
  });
  for (const path of listed.split('\0').filter((file) => /^(?:src|controllers|tools|[\w.-]+$)/.test(file)))
    cpSync(join(REPOSITORY, path), join(checkout, path), { recursive: true });
}
