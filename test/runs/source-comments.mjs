// The comments of the sources as a reader meets them: wrapped lines joined, a run of `//` lines as one comment. Imported
// by prose.mjs and comments.mjs.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'rolldown/utils';

const SOURCE = /(?<!\.d)\.tsx?$/;
const DIRECTIVE = /^\s*(biome-|@ts-|\/ ?<|#|v8 |vite-|@vite)/;

/** The paths of the sources at or below `path`, sorted. */
export const sourcesBelow = (path) => {
  if (!statSync(path).isDirectory()) return SOURCE.test(path) ? [path] : [];
  return readdirSync(path)
    .sort()
    .flatMap((name) => (name === 'node_modules' ? [] : sourcesBelow(join(path, name))));
};

/**
 * The comments of one source. `line` is the number of the first line; `lines` holds the text without its marks;
 * `isDoc` tells a doc comment; `code` is the next line of code, '' at the end of the file.
 */
export const commentsOf = (path, text = readFileSync(path, 'utf8')) => {
  const starts = lineStarts(text);
  const found = [];
  for (const { type, value, start, end } of parseSync(path, text).comments) {
    if (DIRECTIVE.test(value)) continue;
    const line = lineAt(starts, start);
    const column = start - starts[line - 1];
    const lines = type === 'Line' ? [value.trim()] : value.replace(/^\*/, '').split('\n').map(unmarked);
    const last = found.at(-1);
    const standsAlone = text.slice(starts[line - 1], start).trim() === '';
    const continues =
      type === 'Line' && standsAlone && last?.isLine && last.lastLine === line - 1 && last.column === column;
    if (continues) Object.assign(last, { lines: [...last.lines, ...lines], lastLine: line, end });
    else {
      const isDoc = type === 'Block' && value.startsWith('*');
      const isLine = type === 'Line' && standsAlone;
      found.push({
        path,
        line,
        lastLine: lineAt(starts, end),
        column,
        lines,
        isDoc,
        isLine,
        standsAlone,
        end,
      });
    }
  }
  return found.map((comment) => ({ ...comment, code: codeAt(text, starts, comment) }));
};

const unmarked = (line) => line.replace(/^\s*\*(?!\*) ?/, '').trimEnd();

const lineStarts = (text) => {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
};

const lineAt = (starts, offset) => {
  let low = 0;
  let high = starts.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (starts[middle] <= offset) low = middle;
    else high = middle;
  }
  return low + 1;
};

/** The code that a comment is about: beside a trailing comment, else the first line below that is not blank. */
const codeAt = (text, starts, { line, standsAlone, column, end }) => {
  if (!standsAlone) return text.slice(starts[line - 1], starts[line - 1] + column).trim();
  return (
    text
      .slice(end)
      .split('\n')
      .find((below) => below.trim() !== '')
      ?.trim() ?? ''
  );
};
