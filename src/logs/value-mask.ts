/**
 * Covers the values of secrets in the output of a program. A covered output is as long as before, so that places in logs
 * stay right. Short values are not covered: they stand in texts by chance.
 */

/** The shortest value that is covered, and the shortest line of a value of several lines. */
const SHORTEST_BYTES = 4;
const SHORTEST_LINE_BYTES = 8;
const NEWLINE = 0x0a;
const LINE_ENDS: ReadonlySet<number> = new Set([NEWLINE, 0x0d]);
const COVER = 0x2a;

/** The texts that are covered for these values: each as a whole, of several lines each line. */
export function maskedTexts(values: Iterable<string>): string[] {
  return [...values].flatMap((value) => {
    const lines = Array.from(value.trim().split(/[\r\n]+/), (line) => line.trim());
    const shortest = lines.length === 1 ? SHORTEST_BYTES : SHORTEST_LINE_BYTES;
    return lines.filter((line) => Buffer.byteLength(line) >= shortest);
  });
}

export class ValueMask {
  readonly #values: readonly Buffer[] | null;
  readonly #longest: number;
  /** The end of the output before, uncovered: a value may begin in it. */
  #before: Buffer = Buffer.alloc(0);

  /** `texts`: what `maskedTexts` makes of the values; null: they are lost, and everything but line ends is covered. */
  constructor(texts: readonly string[] | null) {
    this.#values = texts?.map((text) => Buffer.from(text)) ?? null;
    this.#longest = Math.max(0, ...(this.#values ?? []).map(({ length }) => length));
  }

  /**
   * Covers the values in the next piece of the output, in place. A piece that ends with 4 bytes of a value or more gets
   * these covered, too; a value that is cut earlier shows up to 3 of its bytes. Returns true when something was covered.
   */
  cover(bytes: Uint8Array): boolean {
    const values = this.#values;
    if (values === null) bytes.set(bytes.map((byte) => (LINE_ENDS.has(byte) ? byte : COVER)));
    if (values === null || values.length === 0) return values === null;
    const all = Buffer.concat([this.#before, bytes]);
    const from = this.#before.length;
    let isCovered = false;
    const coverAt = (start: number, length: number): void => {
      if (start + length <= from) return;
      bytes.fill(COVER, Math.max(0, start - from), start + length - from);
      isCovered = true;
    };
    for (const value of values) {
      for (let at = all.indexOf(value); at >= 0; at = all.indexOf(value, at + 1)) coverAt(at, value.length);
      const begun = beginningAtEnd(all, value);
      coverAt(all.length - begun, begun);
    }
    this.#before = Buffer.from(all.subarray(Math.max(0, all.length - this.#longest + 1)));
    return isCovered;
  }
}

/** How many bytes at the end of `bytes` are the beginning of `value`; 0: fewer than 4. */
function beginningAtEnd(bytes: Buffer, value: Buffer): number {
  const line = bytes.length - bytes.lastIndexOf(NEWLINE) - 1;
  for (let length = Math.min(line, value.length - 1); length >= SHORTEST_BYTES; length--)
    if (bytes.compare(value, 0, length, bytes.length - length) === 0) return length;
  return 0;
}
