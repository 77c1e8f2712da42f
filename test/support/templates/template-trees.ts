/** Template trees for tests: written from a plain object, and read back as such an object. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pino } from 'pino';
import { copyItems } from '../../../src/runtime/installation/workspace-copy.js';
import { mergeLayers } from '../../../src/runtime/installation/workspace-layers.js';
import type { Logger } from '../../../src/telemetry/logger.js';
import { packTree } from '../../../src/templates/transfer/bundle.js';
import type { TemplateCache } from '../../../src/templates/transfer/cache.js';
import { digestTree } from '../../../src/templates/tree/digest.js';
import { walkTree } from '../../../src/templates/tree/tree.js';
import { packThreads } from './pack-threads.js';

/** The content by path. A path that ends in `/` is a directory; a path that starts with `*` is an executable file. */
export type Tree = Readonly<Record<string, string | Buffer>>;

export const quietLogger: Logger = pino({ level: 'silent' });

export const forever = new AbortController().signal;

export function temporaryDirectory(): string {
  return mkdtempSync(join(tmpdir(), 'drover-test-'));
}

export function writeTree(root: string, tree: Tree): void {
  mkdirSync(root, { recursive: true });
  for (const [marked, content] of Object.entries(tree)) {
    const path = join(root, marked.replace(/^\*/, ''));
    mkdirSync(marked.endsWith('/') ? path : dirname(path), { recursive: true });
    if (marked.endsWith('/')) continue;
    writeFileSync(path, content);
    chmodSync(path, marked.startsWith('*') ? 0o755 : 0o644);
  }
}

/** The tree below `root` in the form that `writeTree` takes; a link shows as `-> target`. */
export async function readTree(root: string): Promise<Record<string, string>> {
  const tree: Record<string, string> = {};
  for (const path of (await readdir(root, { recursive: true })).sort()) {
    const stat = await lstat(join(root, path));
    if (stat.isSymbolicLink()) tree[path] = `-> ${await readlink(join(root, path))}`;
    else if (stat.isDirectory()) tree[`${path}/`] = '';
    else tree[(stat.mode & 0o100) === 0 ? path : `*${path}`] = await readFile(join(root, path), 'utf8');
  }
  return tree;
}

/** Puts a tree into a cache as the channel does; resolves with its digest. */
export async function addTree(cache: TemplateCache, tree: Tree): Promise<string> {
  const root = temporaryDirectory();
  try {
    writeTree(root, tree);
    const place = { root, label: 'test tree' };
    const entries = await walkTree(place, forever);
    const digest = await digestTree(place, entries, forever);
    await cache.fetch(digest, { whole: () => packTree(place, entries, forever) }, forever);
    return digest;
  } finally {
    rmSync(root, { recursive: true });
  }
}

/** The files that instances get from a cached tree, in the form that `writeTree` takes. */
export async function readCached(cache: TemplateCache, digest: string): Promise<Record<string, string>> {
  const root = temporaryDirectory();
  try {
    const layer = { label: 'test/tree', ...(await cache.tree(digest, forever)) };
    await copyItems(packThreads, [...mergeLayers([layer]).values()], root, forever);
    return await readTree(root);
  } finally {
    rmSync(root, { recursive: true });
  }
}

/** Mounts a small file system, for tests of a full disk; undefined where the test may not mount. */
export function mountSmallDisk(sizeKB: number): { directory: string; unmount: () => void } | undefined {
  const directory = temporaryDirectory();
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeKB}k`, 'drover-test', directory]);
  if (mounted.status !== 0) {
    rmSync(directory, { recursive: true });
    return undefined;
  }
  return {
    directory,
    unmount: () => {
      spawnSync('umount', [directory]);
      rmSync(directory, { recursive: true });
    },
  };
}
