/** What is refused before it is written to an instance's standard input. */
import { existsSync, readlinkSync } from 'node:fs';
import { isMissing } from '../../files/system-error.js';
import { DroverError } from '../../model/errors.js';
import { LONGEST_BODY_BYTES } from './protocol.js';

/** The longest line. A terminal in line mode keeps 4,095 bytes of a line and drops the rest. */
const LONGEST_LINE_BYTES = 4000;
const NEWLINE = 0x0a;

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
export function refuseUnread(pid: number | undefined): void {
  const where = pid === undefined ? undefined : inputOf(pid);
  if (where === undefined) return;
  throw new DroverError(
    'DRV_STDIN_FULL',
    `the program does not read its standard input, which is ${where}: nothing was written`,
  );
}

/** `closed` or `/dev/null`; undefined: something else, or not known. */
function inputOf(pid: number): string | undefined {
  const descriptors = `/proc/${pid}/fd`;
  try {
    return readlinkSync(`${descriptors}/0`) === '/dev/null' ? '/dev/null' : undefined;
  } catch (error) {
    // A process that is ending has no descriptors at all.
    return isMissing(error) && existsSync(`${descriptors}/1`) ? 'closed' : undefined;
  }
}

function tooLong(message: string): DroverError {
  return new DroverError('DRV_STDIN_TOO_LONG', message);
}
