/**
 * Reads what Markdown pages promise: links, anchors, code and tables. For the tests of the documents; knows only the
 * forms that our pages use.
 */

interface Fence {
  /** The text behind the opening backticks; empty: there is none. */
  readonly language: string;
  readonly lines: readonly string[];
}

const FENCE = /^ *```/;
const LINK = /\[(?:[^\]]|\](?!\())*?\]\(([^)\s]+)\)/g;
const INLINE_CODE = /`([^`]+)`/g;
const NO_WORD_OF_AN_ANCHOR = /[^\p{L}\p{N}_ -]/gu;

export function fencesOf(text: string): Fence[] {
  const fences: { language: string; lines: string[] }[] = [];
  let open: { language: string; lines: string[] } | undefined;
  for (const line of text.split('\n')) {
    if (!FENCE.test(line)) open?.lines.push(line.trim());
    else if (open !== undefined) open = undefined;
    else {
      open = { language: line.replace(FENCE, '').trim(), lines: [] };
      fences.push(open);
    }
  }
  return fences;
}

/** The lines outside of fences. */
export function proseOf(text: string): string[] {
  let isOpen = false;
  return text.split('\n').filter((line) => {
    if (!FENCE.test(line)) return !isOpen;
    isOpen = !isOpen;
    return false;
  });
}

/** The targets of links, unchanged. */
export function linksOf(text: string): string[] {
  return [...proseOf(text).join('\n').matchAll(LINK)].map(([, target = '']) => target);
}

export function inlineCodeOf(text: string): string[] {
  return [...proseOf(text).join('\n').matchAll(INLINE_CODE)].map(([, code = '']) =>
    code.replace(/\s+/g, ' '),
  );
}

/** The anchors that a link may name, as GitHub makes them of the headings. */
export function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>();
  for (const line of proseOf(text)) {
    const heading = /^#{1,6} +(.+)$/.exec(line)?.[1];
    if (heading === undefined) continue;
    const slug = heading.toLowerCase().replace(NO_WORD_OF_AN_ANCHOR, '').replaceAll(' ', '-');
    let anchor = slug;
    for (let count = 1; anchors.has(anchor); count++) anchor = `${slug}-${count}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** The cells of all table rows, without heads and rules. A `\|` stays in its cell. */
export function rowsOf(text: string): string[][] {
  const lines = proseOf(text);
  return lines
    .filter((line, at) => line.startsWith('|') && !isRule(line) && !isRule(lines[at + 1] ?? ''))
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

function isRule(line: string): boolean {
  return /^\|[-| :]+\|$/.test(line);
}

/** The text from the first heading that begins like this, up to the next heading of its level or a higher one. */
export function sectionOf(text: string, heading: string): string {
  const lines = text.split('\n');
  const from = lines.findIndex((line) => line.startsWith(heading));
  if (from < 0) throw new Error(`no heading begins with ${heading}`);
  const level = /^#+/.exec(heading)?.[0].length ?? 1;
  const length = lines.slice(from + 1).findIndex((line) => (/^(#+) /.exec(line)?.[1]?.length ?? 9) <= level);
  return lines.slice(from, length < 0 ? undefined : from + 1 + length).join('\n');
}
