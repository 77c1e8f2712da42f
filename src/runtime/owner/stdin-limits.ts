/** What is refused before it is written to an instance's standard input. */
import { existsSync, readlinkSync } from 'node:fs';
import { uptime } from 'node:os';
import type { ProcessStamp } from '../../files/processes.js';
import { isMissing } from '../../files/system-error.js';
import { DroverError, stdinFull } from '../../model/errors.js';
import { LONGEST_BODY_BYTES } from './protocol.js';

/** The longest line. A terminal in line mode keeps 4,095 bytes of a line and drops the rest. */
const LONGEST_LINE_BYTES = 4000;
const NEWLINE = 0x0a;
/** A very busy machine takes seconds from a fork to the program. */
const FORK_SECONDS = 30;
const TICKS_PER_SECOND = 100;

/** Throws DRV_STDIN_TOO_LONG when the bytes, or a line of them, are too long. */
export function checkInput(bytes: Buffer): void {
  if (bytes.length > LONGEST_BODY_BYTES)
    throw tooLong(
      `${bytes.length} bytes at once are too many for standard input; send ${LONGEST_BODY_BYTES} at most`,
    );
  for (let at = 0; at < bytes.length; ) {
    const newline = bytes.indexOf(NEWLINE, at);
    const end = newline < 0 ? bytes.length : newline;
    if (end - at > LONGEST_LINE_BYTES)
      throw tooLong(
        `a line of ${end - at} bytes is too long for standard input; send ${LONGEST_LINE_BYTES} at most`,
      );
    at = end + 1;
  }
}

/** Throws DRV_STDIN_FULL for a program that took /dev/null as its standard input, or closed it: it would read nothing. */
export function refuseUnread(program: ProcessStamp | undefined): void {
  const where = program === undefined ? undefined : inputOf(program);
  if (where === undefined) return;
  throw stdinFull(`the program does not read its standard input, which is ${where}: nothing was written`);
}

/** `closed` or `/dev/null`; undefined: something else, or not known. */
function inputOf(program: ProcessStamp): string | undefined {
  const directory = `/proc/${program.pid}`;
  try {
    // The fork is asked for first: when it becomes the program in between, its terminal is there already.
    if (isBeingForked(program)) return undefined;
    return readlinkSync(`${directory}/fd/0`) === '/dev/null' ? '/dev/null' : undefined;
  } catch (error) {
    // A process that is ending has no descriptors at all.
    return isMissing(error) && existsSync(`${directory}/fd/1`) ? 'closed' : undefined;
  }
}

/** True for a fork of the owner that may not have its terminal yet: it has the owner's /dev/null for a moment. */
function isBeingForked({ pid, startTime }: ProcessStamp): boolean {
  const ageSeconds = uptime() - startTime / TICKS_PER_SECOND;
  return ageSeconds < FORK_SECONDS && readlinkSync(`/proc/${pid}/exe`) === process.execPath;
}

function tooLong(message: string): DroverError {
  return new DroverError('DRV_STDIN_TOO_LONG', message);
}
