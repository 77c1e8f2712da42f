/** Reads the exit of a session's command from the closing words of the session's shell (see session-prelude.ts). */
import { READY_BYTE } from '../process/shell-prelude.js';
import type { SessionExit, SpoolEnd } from './session-tool.js';

/** A shell's status for a child that signal n ended is 128 + n. */
const SIGNAL_BASE = 128;
const STATUS = /^(code|signal) (\d{1,3});/;
const LONGEST_STATUS_BYTES = 'signal 255;'.length;

/** The exit in a text such as `code 7;` or `signal 137;`; undefined: missing or incomplete. */
export function parseStatus(text: string): SessionExit | undefined {
  const [, kind, digits] = STATUS.exec(text) ?? [];
  if (kind === undefined) return undefined;
  const status = Number(digits);
  return kind === 'code' ? { code: status, signal: null } : { code: null, signal: status - SIGNAL_BASE };
}

/**
 * Splits `bytes` before the shell's closing words, which begin with `mark`. Bytes at the end that may begin them do not
 * count as output.
 */
export function findEnd(bytes: Buffer, mark: Buffer): SpoolEnd {
  for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + 1)) {
    const rest = bytes.toString('latin1', at + mark.length, at + mark.length + LONGEST_STATUS_BYTES);
    const exit = parseStatus(rest);
    if (exit !== undefined || rest.length < LONGEST_STATUS_BYTES) return { outputBytes: at, exit };
  }
  const last = bytes.lastIndexOf(READY_BYTE);
  const isPart = last >= 0 && mark.subarray(0, bytes.length - last).equals(bytes.subarray(last));
  return { outputBytes: isPart ? last : bytes.length, exit: undefined };
}
