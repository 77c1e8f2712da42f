/** The parts of starts and ends that all owners share: the log, the working directory, the exit. */
import { accessSync, constants as fsConstants, statSync } from 'node:fs';
import { uptime } from 'node:os';
import { signalName } from '../../files/processes.js';
import { isDiskClosed } from '../../files/system-error.js';
import { SegmentWriter } from '../../logs/segment-writer.js';
import { publicMessage } from '../../model/public-message.js';
import { startFailed } from '../failures.js';
import type { OwnerExit, StartRequest } from './protocol.js';

/** The unit of process start times on every Linux, whatever the kernel's own tick. */
const TICKS_PER_SECOND = 100;
const MS_PER_TICK = 1000 / TICKS_PER_SECOND;

/** Opens the log for a new run, at the start of a line. Throws an Error for the operator. */
export function openLog(log: StartRequest['log'], hidden: readonly string[] = []): SegmentWriter {
  const writer = new SegmentWriter(log.directory, log);
  writer.hide(hidden);
  try {
    writer.open();
    // The former run may have ended in the middle of a line. End that line, so that this run's output begins on its
    // own line.
    writer.endLine();
  } catch (error) {
    // A full or read-only disk must not hinder a start: the writer drops lines, counts them, and goes on when there is room.
    if (!isDiskClosed(error)) throw new Error(`cannot open its log: ${publicMessage(error)}`);
  }
  return writer;
}

/** Opens the log of a run that goes on, at its end. When that fails, every write tries again. */
export function openLogAgain(log: StartRequest['log']): SegmentWriter {
  const writer = new SegmentWriter(log.directory, log);
  try {
    writer.open();
  } catch (error) {
    process.stderr.write(`a log cannot be opened: ${error}\n`);
  }
  return writer;
}

/**
 * Checks the directory before a start, because a process that fails on it later says so only in its output. Throws
 * DRV_RUNTIME_START_FAILED.
 */
export function checkDirectory(directory: string): void {
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw startFailed(`the working directory ${shortName(directory)} does not exist`);
  try {
    accessSync(directory, fsConstants.X_OK);
  } catch (error) {
    throw startFailed(
      `the working directory ${shortName(directory)} cannot be entered: ${publicMessage(error)}`,
    );
  }
}

/** A short name such as `running/abc123`, because messages about a start reach clients of the API. */
function shortName(directory: string): string {
  return directory.split('/').slice(-2).join('/');
}

/**
 * An exit in the form that the daemon gets. `signal`: a number; 0: no signal. `at`: Unix milliseconds, by default now.
 */
export function toOwnerExit(code: number | null, signal: number, at = Date.now()): OwnerExit {
  const agoTicks = Math.max(0, Date.now() - at) / MS_PER_TICK;
  return {
    code: signal === 0 ? code : null,
    signal: signal === 0 ? null : (signalName(signal) ?? `SIG${signal}`),
    at,
    ticks: Math.max(0, Math.floor(uptime() * TICKS_PER_SECOND - agoTicks)),
  };
}
