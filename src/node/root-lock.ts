/**
 * Allows one node per root, also across containers and machines that share the directory. The lock is the kernel's
 * (flock) on the open lock file. No other process has that file open, so the lock ends with this process, however the
 * process ends. The file's text only tells who holds it.
 */
import { closeSync, constants, fstatSync, ftruncateSync, openSync, statSync, writeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { z } from 'zod';
import { fileReason } from '../configuration-files/file-reason.js';
import { lockOpenFile } from '../files/lock-open-file.js';
import { readBootId, readProcess } from '../files/processes.js';
import { DroverError, unusableRoot } from '../model/errors.js';
import { attempt } from '../model/plain/attempt.js';
import type { RootPaths } from './root.js';

const holderSchema = z.object({ pid: z.int(), startTime: z.number(), bootId: z.string(), host: z.string() });
type Holder = z.output<typeof holderSchema>;

const { O_RDWR, O_CREAT, O_NOFOLLOW } = constants;

interface RootLock {
  /** Idempotent. */
  release(): void;
}

/**
 * Takes the root for this process until `release` or its end. Does not keep the process alive. Throws
 * DRV_NODE_ROOT_LOCKED, naming the other process, when the root is taken; DRV_NODE_ROOT_UNUSABLE when it cannot be
 * locked.
 */
export async function acquireRootLock(paths: RootPaths): Promise<RootLock> {
  const { lockFile } = paths;
  let file: number | undefined;
  try {
    file = await openLocked(paths);
    ftruncateSync(file);
    writeSync(file, JSON.stringify(thisProcess()), 0);
    return heldBy(file);
  } catch (error) {
    if (file !== undefined) closeSync(file);
    throw error instanceof DroverError ? error : unusable(lockFile, fileReason(error));
  }
}

/**
 * The handle for releasing the lock. `release` leaves the file: removing it could free a lock that another process has
 * just taken.
 */
function heldBy(file: number): RootLock {
  let isHeld = true;
  return {
    release: () => {
      if (!isHeld) return;
      isHeld = false;
      // On a read-only disk the text stays. Only the kernel's lock counts.
      attempt(() => ftruncateSync(file));
      closeSync(file);
    },
  };
}

/**
 * Returns the open lock file, locked. Tries again when the file was removed meanwhile, because a removed file locks
 * nothing.
 */
async function openLocked(paths: RootPaths): Promise<number> {
  for (;;) {
    // Open without a FileHandle: the garbage collector may close a FileHandle, which would end the lock.
    const file = openSync(paths.lockFile, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600);
    try {
      if (!(await lockOpenFile(file))) throw await locked(paths);
      const inode = statSync(paths.lockFile, { throwIfNoEntry: false })?.ino;
      if (inode === fstatSync(file).ino) return file;
    } catch (error) {
      closeSync(file);
      throw error;
    }
    closeSync(file);
  }
}

async function readHolder(lockFile: string): Promise<Holder | undefined> {
  // The file may be empty, or is being written at this moment.
  const text = await readFile(lockFile, 'utf8').catch(() => '');
  return attempt(() => holderSchema.safeParse(JSON.parse(text)).data);
}

function thisProcess(): Holder {
  const startTime = readProcess(process.pid)?.startTime ?? 0;
  return { pid: process.pid, startTime, bootId: readBootId(), host: hostname() };
}

/** True when the process runs and is visible here. Processes of other containers and machines are not visible. */
function isSeen({ pid, startTime, bootId }: Holder): boolean {
  return bootId === readBootId() && startTime === readProcess(pid)?.startTime;
}

function unusable(path: string, problem: string): DroverError {
  return unusableRoot(`${path} cannot be locked: ${problem}`);
}

async function locked({ root, lockFile }: RootPaths): Promise<DroverError> {
  const who = describe(await readHolder(lockFile));
  return new DroverError('DRV_NODE_ROOT_LOCKED', `another Drover${who} already runs in ${root}`);
}

function describe(holder: Holder | undefined): string {
  if (holder === undefined) return '';
  const { pid, host } = holder;
  if (isSeen(holder)) return ` (pid ${pid})`;
  return ` (pid ${pid} on ${host}, in another container or on another machine)`;
}
