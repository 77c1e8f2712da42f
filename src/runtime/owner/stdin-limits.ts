/** The limits of one write to an instance's standard input. */
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

function tooLong(message: string): DroverError {
  return new DroverError('DRV_STDIN_TOO_LONG', message);
}
