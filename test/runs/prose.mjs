// A mechanical check of the prose in comments: reports each sentence that lacks its noun or is too long, and exits with 1.
// Usage: node test/runs/prose.mjs [file or directory ...]
import { commentsOf, sourcesBelow } from './source-comments.mjs';

const ROOTS = ['src', 'controllers', 'tools', 'test/support'];
const MOST_WORDS = 30;
const OPENING = /^(Of|Without|What|One|Those)\b/;
const PRONOUN = /\b(one of which|that one|of none)\b/i;
/** The declarations whose docs may open with any word: a type is a noun by itself. */
const TYPE = /^(export )?(declare )?(abstract )?(interface|class|type|enum|namespace|import)\b/;
/** A line of a diagram, a table or an example, which is no sentence. */
const DRAWN = /[─│┌┐└┘├┤┬┴┼▶▼►→]{2}|-->|^\s*\||\S {3,}\S|^ {3,}\S/;
/** The mark of a list item or a tag. */
const ITEM = /^([-*]|\d+\.|@\w+) +/;

/** The sentences of a comment. A blank line, a list item, a tag and a drawn line end a sentence. */
const sentencesOf = ({ lines }) => {
  const blocks = [''];
  let isFenced = false;
  for (const line of lines) {
    const text = line.trim();
    const isFence = text.startsWith('```');
    if (isFence) isFenced = !isFenced;
    if (isFence || isFenced || text === '' || DRAWN.test(line)) blocks.push('');
    else if (ITEM.test(text)) blocks.push(text.replace(ITEM, ''));
    else blocks.push(`${blocks.pop()} ${text}`.trim());
  }
  return blocks.flatMap(split);
};

/** Code in backticks is one word, and a full stop in it ends no sentence: its blanks are replaced meanwhile. */
const split = (block) =>
  block
    .replace(/`[^`]*`/g, (code) => code.replaceAll(' ', '\0'))
    .split(/(?<=[.!?]['")\]]?)(?<!\b(?:e\.g|i\.e|etc|vs)\.)\s+(?=[\p{L}\p{N}`'"({[])/u)
    .filter((sentence) => sentence !== '');

const wordsIn = (sentence) => sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;

const faultsIn = (sentence, { isDoc, code }) => {
  const opening = OPENING.exec(sentence)?.[0];
  const pronoun = PRONOUN.exec(sentence)?.[0];
  const words = wordsIn(sentence);
  return [
    isDoc && opening !== undefined && !TYPE.test(code) && `begins with "${opening}"`,
    pronoun !== undefined && `"${pronoun}"`,
    words > MOST_WORDS && `${words} words`,
  ].filter(Boolean);
};

const paths = process.argv.length > 2 ? process.argv.slice(2) : ROOTS;
const reports = paths
  .flatMap(sourcesBelow)
  .flatMap((path) => commentsOf(path))
  .flatMap((comment) =>
    sentencesOf(comment).flatMap((sentence) =>
      faultsIn(sentence, comment).map(
        (fault) => `${comment.path}:${comment.line}: ${fault}: ${sentence.replaceAll('\0', ' ')}`,
      ),
    ),
  );
for (const report of reports) console.log(report);
if (reports.length > 0) {
  console.log(
    `${reports.length} sentences: say the noun first and name the actor; split what has over ${MOST_WORDS} words.`,
  );
  process.exitCode = 1;
}
