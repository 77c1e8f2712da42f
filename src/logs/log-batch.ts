/** The lines that a follower of an instance's log gets, on the node and over the channel. */

/**
 * A point in a log: a time in Unix milliseconds, an age in milliseconds by the clock of the node (no other clock has to
 * agree with it), or the number of a line.
 */
export type LogPoint = { readonly at: number } | { readonly ago: number } | { readonly line: number };

/** The beginning: the last `tail` lines, or line number `since` (counted from 1 since the instance was made). */
export type LogPosition = { readonly tail: number } | { readonly since: number };

/**
 * Whole lines in a row, oldest first, as written (escape sequences included), without newlines. Or a gap: lines that
 * were rotated away before this follower read them. Numbers never go back within one stream.
 */
export type LogBatch =
  | { readonly kind: 'lines'; readonly firstLine: number; readonly lines: readonly string[] }
  | { readonly kind: 'gap'; readonly from: number; readonly to: number };
