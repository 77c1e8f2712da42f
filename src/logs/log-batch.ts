/** The lines that a follower of an instance's log gets, on the node and through the channel. */

/**
 * A point in a log: a time in Unix milliseconds, an age in milliseconds, or the number of a line. An age is counted by
 * the node's clock, so that no other clock has to agree with it.
 */
export type LogPoint = { readonly at: number } | { readonly ago: number } | { readonly line: number };

/**
 * The beginning of a stream: the last `tail` lines, or line number `since` (counted from 1 since the instance was
 * made).
 */
export type LogPosition = { readonly tail: number } | { readonly since: number };

/**
 * `lines`: whole lines in a row, oldest first, as written (escape sequences included), without newlines. `gap`: numbers
 * of lines that were rotated away before this follower read them. Numbers never go back within a stream.
 */
export type LogBatch =
  | { readonly kind: 'lines'; readonly firstLine: number; readonly lines: readonly string[] }
  | { readonly kind: 'gap'; readonly from: number; readonly to: number };
