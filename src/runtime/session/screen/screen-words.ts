/**
 * The texts that screen reads and writes: commands that paste bytes into a window, and the closing words of a window.
 */
import type { SpoolEnd } from '../session-tool.js';

/** The most bytes per register: screen reads at most 2 KB of a line, and each byte takes four characters. */
const BYTES_PER_REGISTER = 400;
/** Registers have names of one character. The names of the copy buffer (a dot) and the empty register are left out. */
const LAST_REGISTER = 0o376;
const COPY_BUFFER = 0o056;
const EMPTY_REGISTER = octal(0o377);

const OPENING = Buffer.from('\n\r=== Command ');
const CLOSING =
  /^\n\r=== Command (?:terminated (?:with exit status (\d+)|with signal (\d+)(?: \(core file generated\))?|normally)|detached from window) \([^()\n]{1,40}\) ===\s*$/;
const LONGEST_CLOSING_BYTES = 160;

/**
 * The commands that paste up to 64 KiB into the window unchanged, each byte as its octal number. `paste`, because
 * `stuff` loops for ever once the program has not read 4 KB. The empty register makes screen paste a copy: from a
 * single register it pastes the very memory that the next input replaces.
 */
export function pasteCommands(bytes: Buffer): string {
  let commands = `register ${EMPTY_REGISTER} ""\n`;
  let names = '';
  let register = 1;
  for (let at = 0; at < bytes.length; at += BYTES_PER_REGISTER) {
    const content = [...bytes.subarray(at, at + BYTES_PER_REGISTER)].map(octal).join('');
    commands += `register ${octal(register)} "${content}"\n`;
    names += octal(register++);
    if (register === COPY_BUFFER) register++;
    if (register > LAST_REGISTER) throw new RangeError(`${bytes.length} bytes are too many for one paste`);
  }
  return `${commands}paste "${names}${EMPTY_REGISTER}"\n`;
}

/** Splits off the closing words at the very end of `bytes`, and a possible beginning of them. */
export function splitClosingWords(bytes: Buffer): SpoolEnd {
  const from = Math.max(0, bytes.length - LONGEST_CLOSING_BYTES);
  const found = bytes.lastIndexOf(OPENING);
  const at = found >= from ? found : partialOpening(bytes);
  if (at < 0) return { outputBytes: bytes.length, exit: undefined };
  const words = CLOSING.exec(bytes.toString('latin1', at));
  if (words === null) return { outputBytes: at, exit: undefined };
  const [, code, signal] = words;
  // Neither code nor signal: screen saw the terminal close before the program's end, and does not say how it ended.
  return { outputBytes: at, exit: { code: numberOr(code), signal: numberOr(signal) } };
}

/** The place at which the end of the bytes may begin the opening words; -1: none. */
function partialOpening(bytes: Buffer): number {
  for (let length = Math.min(OPENING.length - 1, bytes.length); length > 0; length--)
    if (bytes.subarray(bytes.length - length).equals(OPENING.subarray(0, length)))
      return bytes.length - length;
  return -1;
}

function numberOr(digits: string | undefined): number | null {
  return digits === undefined ? null : Number(digits);
}

function octal(byte: number): string {
  return `\\${byte.toString(8).padStart(3, '0')}`;
}
