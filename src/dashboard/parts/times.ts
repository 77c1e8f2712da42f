/** Times and durations as people read them. */
const EXACT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

export function exactTime(at: number): string {
  return EXACT.format(at);
}

/** The time of the day, such as `18:24:04`. */
export function clockTime(at: number): string {
  return new Date(at).toTimeString().slice(0, 8);
}
