/** The beginning of a session: waits until the session's own shell says that it is ready. */
import { READY_BYTE } from '../process/shell-prelude.js';
import type { RunDirectory } from './run-directory.js';
import type { RunDirectoryWatch } from './run-directory-watch.js';
import type { SessionTool } from './session-tool.js';
import { Spool } from './spool.js';

const LOOK_MS = 50;

const MOST_TRIES = 5;

/**
 * The window of a session was lost: screen took its terminal for closed before the new shell had opened it. It prints
 * "detached from window", keeps its server, and no shell ever runs. Seen once in about 500 starts. Nothing has been
 * started then.
 */
export class WindowLost extends Error {}

/** Calls `start` again, a few times, when a window was lost. Throws what `start` throws. */
export async function untilWindowKept<T>(start: () => Promise<T>): Promise<T> {
  for (let triesLeft = MOST_TRIES - 1; ; triesLeft--)
    try {
      return await start();
    } catch (error) {
      if (!(error instanceof WindowLost) || triesLeft === 0) throw error;
    }
}

interface Beginning {
  readonly tool: Pick<SessionTool, 'key' | 'isServed' | 'readEnd'>;
  readonly run: RunDirectory;
  readonly watch: RunDirectoryWatch;
  /** Scratch memory for reads. */
  readonly buffer: Buffer;
  readonly patienceMs: number;
}

/**
 * Waits until the session's shell is ready. Resolves with the offset in the first spool file at which the command's
 * output begins. Throws an Error for the operator.
 */
export async function untilBegun(beginning: Beginning): Promise<number> {
  const { tool, run, watch, patienceMs } = beginning;
  const giveUpAt = performance.now() + patienceMs;
  for (;;) {
    const isServed = tool.isServed(run);
    // Look for readiness after `isServed`: the session may have begun and ended in between.
    const ready = findReady(beginning);
    if (ready !== undefined) return ready;
    if (isWindowLost(beginning))
      throw new WindowLost(`the ${tool.key} session did not begin: its window closed before its shell ran`);
    if (!isServed || performance.now() > giveUpAt) {
      const how = isServed ? `silent for ${patienceMs / 1000} s` : 'it ended at once';
      throw new Error(`the ${tool.key} session did not begin: ${run.toolWords(tool.key) || how}`);
    }
    await watch.next(LOOK_MS);
  }
}

function findReady(beginning: Beginning): number | undefined {
  if (beginning.run.processes === undefined) return undefined;
  const at = readSpool(beginning).indexOf(READY_BYTE);
  return at < 0 ? undefined : at + 1;
}

function isWindowLost(beginning: Beginning): boolean {
  const exit = beginning.tool.readEnd?.(readSpool(beginning)).exit;
  return exit?.code === null && exit.signal === null && !beginning.run.hasShell;
}

function readSpool({ run, buffer }: Beginning): Buffer {
  const spool = new Spool(run.directory, { file: 0, offset: 0 });
  try {
    return spool.read(buffer);
  } finally {
    spool.close();
  }
}
