/** Patterns of names, such as `lobby*`: a star stands for any number of characters, also for none. */

export const NAME_PATTERN = /^[A-Za-z0-9._*-]{1,64}$/;
export const NAME_PATTERN_RULE =
  'must hold only letters, digits, ".", "_", "-" and "*" for any characters, such as "lobby*" (64 characters at most)';

/**
 * True when a pattern matches the whole name. The time grows with the length of the name only, whatever the pattern.
 */
export function matchesAny(patterns: readonly string[], name: string): boolean {
  for (const pattern of patterns) if (matches(pattern, name)) return true;
  return false;
}

function matches(pattern: string, name: string): boolean {
  const star = pattern.indexOf('*');
  if (star < 0) return pattern === name;
  const [head = '', ...parts] = pattern.split('*');
  const tail = parts.pop() ?? '';
  if (name.length < head.length + tail.length || !name.startsWith(head) || !name.endsWith(tail)) return false;
  // Take the earliest place of a part: it leaves the most room for the parts after it.
  let at = head.length;
  for (const part of parts) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at + tail.length <= name.length;
}
