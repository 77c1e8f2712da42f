// Draws comments of src and controllers at random, for a person who judges whether they read once: each with its place
// and the line of code that it is about. Usage: node test/runs/comments.mjs [count] [--seed number] [directory ...]
import { commentsOf, sourcesBelow } from './source-comments.mjs';

const args = process.argv.slice(2);
const seedAt = args.indexOf('--seed');
const seed = seedAt < 0 ? Date.now() % 1e9 : Number(args.splice(seedAt, 2)[1]);
const count = /^\d+$/.test(args[0] ?? '') ? Number(args.shift()) : 200;
const roots = args.length > 0 ? args : ['src', 'controllers', 'tools'];

/** Mulberry32: a small generator that gives the same numbers on each machine. */
let state = seed;
const random = () => {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
};

const left = roots.flatMap(sourcesBelow).flatMap((path) => commentsOf(path));
console.log(`${Math.min(count, left.length)} of ${left.length} comments, seed ${seed}`);
for (let number = 1; number <= count && left.length > 0; number++) {
  const [{ path, line, lines, code }] = left.splice(Math.floor(random() * left.length), 1);
  const text = lines
    .map((part) => part.trim())
    .join(' ')
    .trim();
  console.log(`\n${number}. ${path}:${line}\n   ${text}\n   > ${code}`);
}
