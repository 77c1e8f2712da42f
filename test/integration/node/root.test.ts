/** The node's directory and its lock, with real permissions and real processes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, statSync } from 'node:fs';
import {
  chmod,
  chown,
  mkdir,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { prepareRoot, type RootPaths } from '../../../src/node/root.js';
import { acquireRootLock } from '../../../src/node/root-lock.js';
import { REPOSITORY } from '../../support/repository-root.js';

const PROGRAM = join(REPOSITORY, 'build/test/support/daemon/root-holder.js');

let parent: string;
let root: string;
let children: ChildProcess[];
/** Short directories under /tmp. */
let made: Set<string>;

beforeEach(async () => {
  parent = await realpath(mkdtempSync(join(tmpdir(), 'drover-root-')));
  root = join(parent, 'node');
  children = [];
  made = new Set();
});

afterEach(async () => {
  for (const child of children) await kill(child);
  for (const directory of [parent, ...made]) await rm(directory, { recursive: true, force: true });
});

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

/** Starts a process that takes the lock; its one line. */
async function holder(
  option = '',
  env: NodeJS.ProcessEnv = process.env,
): Promise<{ child: ChildProcess; line: string }> {
  const child = spawn(process.execPath, [PROGRAM, root, option], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env,
  });
  children.push(child);
  for await (const line of createInterface({ input: child.stdout })) return { child, line };
  throw new Error('the program ended without a line');
}

/** A root whose path is too long for sockets. */
async function far(): Promise<RootPaths> {
  const paths = await prepareRoot(join(await long(parent), 'node'));
  made.add(paths.sockets);
  return paths;
}

describe('a root', () => {
  test('is made with everything in it, what is private for its owner only', async () => {
    const paths = await prepareRoot(root);
    expect((await readdir(root)).sort()).toEqual([
      'configurations',
      'data',
      'extensions',
      'logs',
      'running',
      'templates',
    ]);
    expect(await readdir(paths.logs)).toEqual(['instances']);
    for (const path of [paths.data, paths.sockets, paths.store, paths.templateCache])
      expect(`${path} ${(statSync(path).mode & 0o777).toString(8)}`).toBe(`${path} 700`);
    expect(paths).toMatchObject({
      root,
      configFile: join(root, 'config.json'),
      sockets: join(root, 'data', 'sockets'),
    });
  });

  test('keeps its identity, and another directory at the same path has another', async () => {
    const { rootId } = await prepareRoot(root);
    expect(rootId).toMatch(/^[0-9a-f]{12}$/);
    expect((await prepareRoot(root)).rootId).toBe(rootId);
    await symlink(root, join(parent, 'link'));
    expect((await prepareRoot(join(parent, 'link'))).rootId).toBe(rootId);
    await rename(root, join(parent, 'old'));
    expect((await prepareRoot(root)).rootId).not.toBe(rootId);
  });

  test('has a key for its locks that stays, and that nobody else knows', async () => {
    const [one, other] = await Promise.all([prepareRoot(root), prepareRoot(root)]);
    expect(one.lockKey).toMatch(/^[0-9a-f]{24}$/);
    expect(other.lockKey).toBe(one.lockKey);
    expect((await prepareRoot(root)).lockKey).toBe(one.lockKey);
    expect((await prepareRoot(join(parent, 'other'))).lockKey).not.toBe(one.lockKey);
    expect(statSync(join(one.data, 'lock.key')).mode & 0o777).toBe(0o600);
    await writeFile(join(one.data, 'lock.key'), '');
    await expect(prepareRoot(root)).rejects.toThrow(/lock\.key cannot be used: it holds no key/);
  });

  test('with a long path has its sockets in a short private directory, which stays the same', async () => {
    const { sockets } = await far();
    expect(sockets).toMatch(/^\/tmp\/drover-\w{6}$/);
    expect(statSync(sockets).mode & 0o777).toBe(0o700);
    expect((await far()).sockets).toBe(sockets);
    await rm(sockets, { recursive: true });
    expect((await far()).sockets).toBe(sockets);
    expect(statSync(sockets).mode & 0o777).toBe(0o700);
  });

  test.runIf(userInfo().uid === 0)(
    'with a long path leaves alone what another user put in its place',
    async () => {
      const { sockets: first } = await far();
      await chown(first, 12345, 12345);
      const { sockets: second, data } = await far();
      expect(second).not.toBe(first);
      // A link would lead into what somebody else chose.
      await rm(second, { recursive: true });
      await symlink(parent, second);
      const { sockets: third } = await far();
      expect([first, second]).not.toContain(third);
      await rm(join(data, 'short-sockets'));
      const { rootId } = await far();
      const former = `/tmp/drover-${rootId}`;
      await rm(join(data, 'short-sockets'));
      await mkdir(former, { mode: 0o700 });
      made.add(former);
      await chown(former, 12345, 12345);
      expect((await far()).sockets).not.toBe(former);
    },
  );

  test('that is a file is refused', async () => {
    await writeFile(root, '');
    await expect(prepareRoot(root)).rejects.toMatchObject({
      code: 'DRV_NODE_ROOT_UNUSABLE',
      message: `${root}: is not a directory; give another with --root`,
    });
  });

  test('whose parent is missing is refused, and the parent is not made', async () => {
    await expect(prepareRoot(join(root, 'deep'))).rejects.toThrow(
      `${join(root, 'deep')}: cannot be made: ${root} is not a directory that exists; make it first`,
    );
    expect(await readdir(parent)).toEqual([]);
  });

  test('with a file where a directory belongs is refused', async () => {
    await mkdir(root);
    await writeFile(join(root, 'running'), '');
    await expect(prepareRoot(root)).rejects.toThrow(
      `${join(root, 'running')}: the node's running directory cannot be used: it is not a directory; move it away`,
    );
  });

  test.each(['/proc', '/proc/drover'])('that cannot be written, such as %s, is refused', async (path) => {
    await expect(prepareRoot(path)).rejects.toMatchObject({
      code: 'DRV_NODE_ROOT_UNUSABLE',
      message: expect.stringContaining('no such file or directory (ENOENT)'),
    });
  });

  test.runIf(userInfo().uid !== 0)('without the right to write is refused', async () => {
    await mkdir(root, { mode: 0o500 });
    await expect(prepareRoot(root)).rejects.toThrow(
      `${root}: cannot be used: permission denied (EACCES); it must be writable for this user`,
    );
  });

  test('whose data is open to others is refused with the command that mends it', async () => {
    const paths = await prepareRoot(root);
    await chmod(paths.data, 0o750);
    await expect(prepareRoot(root)).rejects.toThrow(
      `${paths.data} has mode 750 and is open to other users; run: chmod 700 '${paths.data}'`,
    );
    await chmod(paths.data, 0o700);
    await writeFile(paths.adminKey, 'secret', { mode: 0o644 });
    await expect(prepareRoot(root)).rejects.toThrow(`run: chmod 600 '${paths.adminKey}'`);
    await chmod(paths.adminKey, 0o600);
    await expect(prepareRoot(root)).resolves.toEqual(paths);
  });

  test.runIf(userInfo().uid === 0)('whose data belongs to another user is refused', async () => {
    const paths = await prepareRoot(root);
    await chown(paths.data, 12345, 12345);
    await expect(prepareRoot(root)).rejects.toThrow(
      `${paths.data} belongs to user 12345, not to root; run: chown -R root '${paths.data}'`,
    );
  });
});

describe('the lock of a root', () => {
  test('is had once, and again after its release', async () => {
    const paths = await prepareRoot(root);
    const lock = await acquireRootLock(paths);
    await expect(acquireRootLock(paths)).rejects.toMatchObject({
      code: 'DRV_NODE_ROOT_LOCKED',
      message: `another Drover (pid ${process.pid}) already runs in ${root}`,
    });
    lock.release();
    lock.release();
    expect(await readFile(paths.lockFile, 'utf8')).toBe('');
    (await acquireRootLock(paths)).release();
  });

  test('does not concern another root', async () => {
    const locks = [await acquireRootLock(await prepareRoot(root))];
    locks.push(await acquireRootLock(await prepareRoot(join(parent, 'other'))));
    for (const lock of locks) lock.release();
  });

  test('of a process that was killed is free at once', async () => {
    const { child, line } = await holder();
    expect(line).toBe('held');
    const paths = await prepareRoot(root);
    await expect(acquireRootLock(paths)).rejects.toThrow(
      `another Drover (pid ${child.pid}) already runs in ${root}`,
    );
    await kill(child);
    expect(JSON.parse(await readFile(paths.lockFile, 'utf8'))).toMatchObject({ pid: child.pid });
    (await acquireRootLock(paths)).release();
  });

  test('is free when whoever wrote the file is gone, whatever stands in it', async () => {
    const paths = await prepareRoot(root);
    const lock = await acquireRootLock(paths);
    const mine = await readFile(paths.lockFile, 'utf8');
    lock.release();
    for (const text of [mine, '', '{', '[]', 'null']) {
      await writeFile(paths.lockFile, text);
      (await acquireRootLock(paths)).release();
    }
  });

  test('is not held on by a child that outlives its holder', async () => {
    const { child, line } = await holder('--child');
    const childPid = Number(/^held, child (\d+)$/.exec(line)?.[1]);
    try {
      await kill(child);
      (await acquireRootLock(await prepareRoot(root))).release();
      process.kill(childPid, 0);
    } finally {
      process.kill(childPid, 'SIGKILL');
    }
  });

  test('cannot be had without the program flock, which is said', async () => {
    const paths = await prepareRoot(root);
    const { line } = await holder(undefined, { PATH: parent });
    expect(line).toBe(`${paths.lockFile} cannot be locked: the program flock is missing; install util-linux`);
  });

  test('goes to exactly one of ten processes that race for it', async () => {
    const paths = await prepareRoot(root);
    const lines = (await Promise.all(Array.from({ length: 10 }, () => holder()))).map(({ line }) => line);
    expect(lines.filter((line) => line === 'held')).toHaveLength(1);
    expect(lines.filter((line) => /^another Drover( \(pid \d+\))? already runs in /.test(line))).toHaveLength(
      9,
    );
    expect(JSON.parse(await readFile(paths.lockFile, 'utf8'))).toMatchObject({ pid: expect.any(Number) });
  });
});

async function long(start: string): Promise<string> {
  const path = join(start, 'l'.repeat(60), 'm'.repeat(40));
  await mkdir(path, { recursive: true });
  return path;
}
