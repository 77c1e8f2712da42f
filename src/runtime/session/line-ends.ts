/**
 * Removes the carriage returns that a session's terminal adds before newlines for operators who attach. The log holds
 * the program's own output. When a program sets up its terminal otherwise, a return of its own before a newline is
 * removed too.
 */
const RETURN = 0x0d;
const LINE_END = '\r\n';

/** How many of `bytes` can be moved now. A return at their end must wait: a newline may follow. */
export function certainBytes(bytes: Buffer): number {
  return bytes.at(-1) === RETURN ? bytes.length - 1 : bytes.length;
}

/** `bytes` without the return before each newline; moved together in place. */
export function withoutReturns(bytes: Buffer): Buffer {
  let kept = 0;
  let from = 0;
  for (let at = bytes.indexOf(LINE_END); at >= 0; at = bytes.indexOf(LINE_END, from)) {
    bytes.copyWithin(kept, from, at);
    kept += at - from;
    from = at + 1;
  }
  bytes.copyWithin(kept, from);
  return bytes.subarray(0, kept + bytes.length - from);
}

/**
 * The number of `bytes` (`spent`) from which the first `count` kept bytes were made. `kept`: how many were made when
 * `bytes` has fewer.
 */
export function spentFor(bytes: Buffer, count: number): { readonly spent: number; readonly kept: number } {
  let kept = 0;
  let from = 0;
  for (let at = bytes.indexOf(LINE_END); at >= 0; at = bytes.indexOf(LINE_END, from)) {
    if (kept + at - from >= count) break;
    kept += at - from;
    from = at + 1;
  }
  const more = Math.min(count - kept, certainBytes(bytes) - from);
  return { spent: from + more, kept: kept + more };
}
