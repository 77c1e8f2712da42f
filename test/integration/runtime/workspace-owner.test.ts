/** Working directories of instances with a user of their own. Only root can give files away: skipped without it. */
import {
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type PrepareRequest, Workspaces } from '../../../src/runtime/installation/workspace.js';
import { TemplateCache } from '../../../src/templates/transfer/cache.js';
import { FakeClock } from '../../support/fake-clock.js';
import { editThread, packThreads } from '../../support/templates/pack-threads.js';
import { addTree, forever, quietLogger, temporaryDirectory } from '../../support/templates/template-trees.js';

const ID = 'abc123';
const A = { uid: 12345, gid: 12346 };
const B = { uid: 12347, gid: 12348 };

describe.runIf(process.getuid?.() === 0)('the owner of a working directory', () => {
  let root: string;
  let running: string;
  let directory: string;
  let cache: TemplateCache;
  let workspaces: Workspaces;

  beforeEach(async () => {
    root = temporaryDirectory();
    running = join(root, 'running');
    directory = join(running, ID);
    cache = new TemplateCache({
      packThreads,
      directory: join(root, 'cache'),
      logger: quietLogger,
      clock: new FakeClock(),
    });
    await cache.start();
    workspaces = new Workspaces({
      runningDirectory: running,
      installedDirectory: join(root, 'installed'),
      cache,
      packThreads,
      editThread,
      logger: quietLogger,
    });
    await workspaces.removeUnfinished();
  });

  afterEach(async () => {
    await workspaces.stop();
    rmSync(root, { recursive: true, force: true });
  });

  async function prepare(request: Partial<PrepareRequest> = {}): Promise<void> {
    const digest = await addTree(cache, { file: 'text', 'folder/deep': 'text' });
    await workspaces.prepare({
      instanceId: ID,
      templates: [{ group: 'a', name: 'b', priority: 0, digest }],
      keep: false,
      override: false,
      fileModifications: [],
      variables: new Map(),
      signal: forever,
      ...request,
    });
  }

  const ownerOf = (path: string): string => {
    const { uid, gid } = lstatSync(join(directory, path));
    return `${uid}:${gid}`;
  };
  const modeOf = (path: string): number => statSync(path).mode & 0o777;

  it('is its user, of all that a template brings, and nobody else may enter', async () => {
    await prepare();
    expect(modeOf(running)).toBe(0o700);
    expect(modeOf(directory)).toBe(0o700);
    for (const templates of [undefined, []]) {
      await prepare({ owner: A, ...(templates !== undefined && { templates }) });
      expect(ownerOf('.')).toBe('12345:12346');
      expect(modeOf(directory)).toBe(0o700);
      if (templates === undefined)
        expect(['file', 'folder', 'folder/deep'].map(ownerOf)).toEqual(Array(3).fill('12345:12346'));
    }
    await prepare({ keep: true, templates: [], owner: B });
    expect(ownerOf('.')).toBe('12347:12348');
    expect(modeOf(running)).toBe(0o711);
  });

  it('is the user of today for a kept directory too, with what is new in it', async () => {
    await prepare({ keep: true, owner: A });
    writeFileSync(join(directory, 'saved'), 'its own');
    chownSync(join(directory, 'saved'), A.uid, A.gid);
    rmSync(join(directory, 'folder/deep'));
    await prepare({ keep: true, owner: B });
    expect(['.', 'file', 'folder', 'folder/deep', 'saved'].map(ownerOf)).toEqual(
      Array(5).fill('12347:12348'),
    );
    await prepare({ keep: true });
    expect(['.', 'file', 'saved'].map(ownerOf)).toEqual(Array(3).fill('0:0'));
  });

  it('is never given what a link or a second name leads to', async () => {
    await prepare({ keep: true, owner: A });
    const [secret, others] = [join(root, 'secret'), join(root, 'others')];
    writeFileSync(secret, 'secret');
    mkdirSync(others);
    writeFileSync(join(others, 'file'), 'secret');
    // As the user before would plant them: links, a second name of a file of root's, and one of another file of its own.
    symlinkSync(secret, join(directory, 'link'));
    symlinkSync(others, join(directory, 'directory-link'));
    linkSync(secret, join(directory, 'second-name'));
    const foreign = join(root, 'foreign');
    writeFileSync(foreign, 'of another instance of that user');
    chownSync(foreign, A.uid, A.gid);
    linkSync(foreign, join(directory, 'own-second-name'));
    await prepare({ keep: true, owner: B });
    expect(ownerOf('.')).toBe('12347:12348');
    for (const path of [secret, others, join(others, 'file')]) expect(statSync(path).uid, path).toBe(0);
    expect(statSync(foreign).uid).toBe(A.uid);
  });

  it('closes a kept directory that an earlier version left open, and opens one for a container of an unknown user', async () => {
    mkdirSync(directory, { mode: 0o755 });
    await prepare({ keep: true });
    expect(modeOf(directory) & 0o007).toBe(0);
    for (const templates of [undefined, []]) {
      await prepare({ isContainer: true, ...(templates !== undefined && { templates }) });
      expect(modeOf(directory)).toBe(0o755 & ~process.umask());
    }
    await prepare({ isContainer: true, owner: A });
    expect([modeOf(directory), ownerOf('.')]).toEqual([0o700, '12345:12346']);
  });
});
