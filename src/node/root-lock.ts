/**
 * Allows one node per root. The lock is a Unix socket in Linux's abstract name space: the kernel lets one process bind
 * a name and frees it when that process ends in any way. The lock file only tells which process it is.
 */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { z } from 'zod';
import { fileReason, hasFileCode } from '../configuration-files/file-reason.js';
import { DroverError } from '../model/errors.js';
import type { RootPaths } from './root.js';

const holderSchema = z.object({ pid: z.int(), startTime: z.number(), bootId: z.string() });
type Holder = z.output<typeof holderSchema>;

/** Size of `sun_path`. Versions of libuv agree on a name only when it fills all of it. */
const NAME_BYTES = 108;

export interface RootLock {
  /** Idempotent. */
  release(): Promise<void>;
}

/**
 * Takes the root for this process until `release` or its end. Does not keep the process alive. Throws
 * DRV_NODE_ROOT_LOCKED, naming the other process, when the root is taken; DRV_NODE_ROOT_UNUSABLE when it cannot be
 * written.
 */
export async function acquireRootLock(paths: RootPaths): Promise<RootLock> {
  const server = createServer((connection) => connection.destroy());
  if (!(await bind(server, paths.rootId))) throw locked(paths.root, (await readHolder(paths.lockFile))?.pid);
  try {
    await refuseOtherHolder(paths);
    await writeFile(paths.lockFile, JSON.stringify(await thisProcess()), { mode: 0o600 });
  } catch (error) {
    await close(server);
    throw error instanceof DroverError ? error : unusable(paths.lockFile, error);
  }
  let released: Promise<void> | undefined;
  const release = async (): Promise<void> => {
    // The file first: once the name is free, the file may belong to another process.
    await rm(paths.lockFile, { force: true });
    await close(server);
  };
  return {
    release: () => {
      released ??= release();
      return released;
    },
  };
}

/** Answers false when another process has the name. */
function bind(server: Server, rootId: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      if (hasFileCode(error, 'EADDRINUSE')) resolve(false);
      else reject(unusable(`the lock of root ${rootId}`, error));
    });
    server.listen({ path: `\0drover-${rootId}`.padEnd(NAME_BYTES, '\0') }, () => {
      server.unref();
      resolve(true);
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}

/** Names are per network name space. A process that runs in another one is found by the lock file. */
async function refuseOtherHolder({ root, lockFile }: RootPaths): Promise<void> {
  const holder = await readHolder(lockFile);
  if (holder === undefined || holder.pid === process.pid) return;
  if (holder.bootId !== (await bootId()) || holder.startTime !== (await startTimeOf(holder.pid))) return;
  throw locked(root, holder.pid);
}

async function readHolder(lockFile: string): Promise<Holder | undefined> {
  try {
    const text = await readFile(lockFile, 'utf8');
    return text === '' ? undefined : holderSchema.safeParse(JSON.parse(text)).data;
  } catch {
    // Missing, or being written at this moment. It is only needed for the message.
    return undefined;
  }
}

async function thisProcess(): Promise<Holder> {
  const startTime = (await startTimeOf(process.pid)) ?? 0;
  return { pid: process.pid, startTime, bootId: await bootId() };
}

async function bootId(): Promise<string> {
  return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
}

/**
 * Field 22 of the process's stat line. The name in field 2 may contain spaces, so fields are counted after its
 * parenthesis.
 */
async function startTimeOf(pid: number): Promise<number | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const field = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  return field === undefined ? undefined : Number(field);
}

function unusable(what: string, error: unknown): DroverError {
  return new DroverError('DRV_NODE_ROOT_UNUSABLE', `${what} cannot be taken: ${fileReason(error)}`);
}

function locked(root: string, pid: number | undefined): DroverError {
  const who = pid === undefined ? '' : ` (pid ${pid})`;
  return new DroverError('DRV_NODE_ROOT_LOCKED', `another Drover${who} already runs in ${root}`);
}
