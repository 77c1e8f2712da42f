/** Shows two values side by side. Values that differ never look equal, and a mark stands where text is left out. Pure. */

/** Values up to this length are shown whole. */
const WHOLE_CHARS = 120;
/** How much of the equal text is shown on each side of a difference. */
const CONTEXT_CHARS = 40;
/** How much of a difference is shown. */
const MOST_CHARS = 400;
/** Characters that show as nothing, as a plain space, or that turn the direction of text. */
const UNSEEN = /(?![ \n\r])[\p{C}\p{Z}\p{DI}\u2800]/gu;

/** Returns the two texts to show; null stays null. A value alone is cut at its end. `isWhole`: nothing is cut. */
export function shownPair(
  from: string | null,
  to: string | null,
  { isWhole = false } = {},
): readonly [from: string | null, to: string | null] {
  const [a, b] = [from ?? '', to ?? ''];
  const isPair = from !== null && to !== null && from !== to;
  const shortest = Math.min(a.length, b.length);
  let before = 0;
  while (isPair && before < shortest && a[before] === b[before]) before++;
  let after = 0;
  while (isPair && after < shortest - before && a.at(-1 - after) === b.at(-1 - after)) after++;
  const isAll = isWhole || Math.max(a.length, b.length) <= WHOLE_CHARS;
  const shown = (side: string): string => {
    const begin = isAll ? 0 : Math.max(0, before - CONTEXT_CHARS);
    const differs = side.length - after;
    const end = isAll ? side.length : Math.min(side.length, before + MOST_CHARS, differs + CONTEXT_CHARS);
    const more = differs > end ? ` (${differs - end} more characters)` : '';
    // Letters of two alphabets can look alike, so the first difference is shown by its number.
    const first = side.slice(before, before + 1);
    const text = `${side.slice(begin, before)}${isPair ? asciiOf(first) : first}${side.slice(before + 1, end)}`;
    return `${begin > 0 ? '…' : ''}${visibleText(text)}${end < side.length ? `…${more}` : ''}`;
  };
  return [from === null ? null : shown(a), to === null ? null : shown(b)];
}

/** The text with every character that cannot be seen as its JSON escape. */
export function visibleText(text: string): string {
  return text.replaceAll(UNSEEN, escapeOf);
}

function asciiOf(character: string): string {
  return /^[ -~]?$/.test(character) ? character : escapeOf(character);
}

function escapeOf(character: string): string {
  return Array.from(
    { length: character.length },
    (_, index) => String.raw`\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
  ).join('');
}
