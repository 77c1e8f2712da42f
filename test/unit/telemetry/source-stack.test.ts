/** Stacks of the bundle with the names of our files in them, whatever texts from outside stand there, too. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { SourceStacks } from '../../../src/telemetry/source-stack.js';

let scratch: string;
let stacks: SourceStacks;

/** Everything in it comes from the first place of `src/a.ts`. */
const MAP = JSON.stringify({ version: 3, sources: ['../src/a.ts'], names: [], mappings: 'AAAA' });

beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'drover-stacks-'));
  for (const folder of ['dist', 'other']) {
    mkdirSync(join(scratch, folder));
    writeFileSync(join(scratch, folder, 'main.js.map'), MAP);
  }
  stacks = new SourceStacks(join(scratch, 'dist/'));
});
afterEach(() => rmSync(scratch, { recursive: true }));

const frame = (file: string, column = 7): string => `    at run (file://${scratch}/${file}:1:${column})`;
const ours = (): string => `    at run (${scratch}/src/a.ts:1:1)`;

it('names the source of a frame of the program', () => {
  expect(stacks.translate(`Error: broken\n${frame('dist/main.js')}`)).toBe(`Error: broken\n${ours()}`);
  expect(stacks.translate(`    at ${scratch}/dist/main.js:1:3`)).toBe(`    at ${scratch}/src/a.ts:1:1`);
});

it.each(['other/main.js', 'dist/../other/main.js', 'dist/none.js'])(
  'leaves a frame of %s as it is',
  (file) => {
    expect(stacks.translate(frame(file))).toBe(frame(file));
  },
);

it('leaves a message as it is', () => {
  const message = `Error: see ${scratch}/dist/main.js:1:7`;
  expect(stacks.translate(message)).toBe(message);
});

it('reads each map once', () => {
  stacks.translate(frame('dist/main.js', 1));
  rmSync(join(scratch, 'dist/main.js.map'));
  expect(stacks.translate(frame('dist/main.js', 2))).toBe(ours());
});

it('keeps a bounded number of places, and goes on to translate these', () => {
  for (let column = 1; column <= 1000; column++) stacks.translate(frame('dist/main.js', column));
  expect(stacks.translate(frame('dist/main.js', 1001))).toBe(frame('dist/main.js', 1001));
  expect(stacks.translate(frame('dist/main.js', 1))).toBe(ours());
});
