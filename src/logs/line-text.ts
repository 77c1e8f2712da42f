/**
 * Turns the bytes of a log into lines of text. Invalid UTF-8 is replaced, very long lines are cut. Bytes are split into
 * lines before they are decoded, so a character at a block's edge comes out whole.
 */
import { NEWLINE } from './segments.js';

/** The longest line that is shown whole, so that an answer of 1,000 lines keeps a size that a client can take. */
export const LONGEST_LINE_BYTES = 64 * 1024;

/** How much of a long line's end is kept, for what a terminal shows behind a progress bar. */
const END_BYTES = 8192;
const RETURN = 0x0d;

/**
 * The text of a line of `bytes` bytes. `head`: the whole line, or at least the part that is shown. `end`: the last bytes
 * of a longer line. The text in them behind the last carriage return is shown behind the cut.
 */
export function lineText(head: Buffer, bytes = head.length, end: Buffer = Buffer.alloc(0)): string {
  if (bytes <= LONGEST_LINE_BYTES) return head.toString('utf8');
  const stop = end.at(-1) === RETURN ? end.length - 1 : end.length;
  const last = end.subarray(0, stop).lastIndexOf(RETURN);
  const shown = last < 0 ? '' : end.toString('utf8', last, stop);
  return `${head.toString('utf8', 0, LONGEST_LINE_BYTES)} [drover] line cut here, it has ${bytes} bytes${shown}`;
}

/** The last bytes of a line so far, when `part` follows them. */
export function lineEnd(before: Buffer, part: Buffer): Buffer {
  return Buffer.concat([before.subarray(-END_BYTES), part.subarray(-END_BYTES)]).subarray(-END_BYTES);
}

/** Cuts a stream of blocks into whole lines. Keeps no more of an unfinished line than is shown. */
export class LineSplitter {
  #head: Buffer[] = [];
  #headBytes = 0;
  #end: Buffer = Buffer.alloc(0);
  /** Length of the unfinished line, including bytes that are not kept. */
  #bytes = 0;

  /** The lines that end in `block`. The caller may reuse `block` afterwards. */
  push(block: Buffer): string[] {
    const end = block.lastIndexOf(NEWLINE);
    if (end < 0) {
      this.#hold(block);
      return [];
    }
    let start = 0;
    const lines: string[] = [];
    if (this.#bytes > 0) {
      const first = block.indexOf(NEWLINE);
      this.#hold(block.subarray(0, first));
      lines.push(this.#release());
      start = first + 1;
    }
    // A block is not longer than the longest line shown whole, so no line here needs a cut.
    if (start <= end) for (const line of block.toString('utf8', start, end).split('\n')) lines.push(line);
    this.#hold(block.subarray(end + 1));
    return lines;
  }

  /** Returns the unfinished line and starts anew; undefined: there is none. */
  end(): string | undefined {
    return this.#bytes === 0 ? undefined : this.#release();
  }

  #hold(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#bytes += bytes.length;
    const part = bytes.subarray(0, LONGEST_LINE_BYTES - this.#headBytes);
    if (this.#bytes > LONGEST_LINE_BYTES)
      this.#end = lineEnd(this.#end.length > 0 ? this.#end : Buffer.concat(this.#head), bytes);
    if (part.length === 0) return;
    this.#head.push(Buffer.from(part));
    this.#headBytes += part.length;
  }

  #release(): string {
    const text = lineText(Buffer.concat(this.#head), this.#bytes, this.#end);
    this.#head = [];
    this.#headBytes = 0;
    this.#end = Buffer.alloc(0);
    this.#bytes = 0;
    return text;
  }
}
