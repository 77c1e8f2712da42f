/** The mechanical check of the prose in comments that `npm run lint` runs: what it reports, and what it leaves alone. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { REPOSITORY } from '../../support/repository-root.js';

/** Runs the check on one source, and returns its exit code and what it reports without the path. */
function check(source: string): { readonly code: number | null; readonly lines: readonly string[] } {
  const directory = mkdtempSync(join(tmpdir(), 'drover-prose-'));
  try {
    const path = join(directory, 'source.tsx');
    writeFileSync(path, source);
    const program = join(REPOSITORY, 'test/runs/prose.mjs');
    const { status, stdout } = spawnSync(process.execPath, [program, path], { encoding: 'utf8' });
    return { code: status, lines: stdout.trimEnd().replaceAll(`${path}:`, '').split('\n') };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const words = (count: number): string => Array.from({ length: count }, () => 'word').join(' ');

it('reports each sentence that lacks its noun, with its line, and exits with 1', () => {
  const { code, lines } = check(`
interface Found {
  /** The state. Of the leader: its term. */
  readonly state: string;
}
/**
 * What it does,
 * on two lines.
 */
function act() {}
act(); // if that one fails, one of which is here
`);
  expect(code).toBe(1);
  expect(lines).toEqual([
    '3: begins with "Of": Of the leader: its term.',
    '6: begins with "What": What it does, on two lines.',
    '11: "that one": if that one fails, one of which is here',
    expect.stringMatching(/^3 sentences: say the noun first/),
  ]);
});

it('counts the words of a sentence over wrapped lines, with code as one word', () => {
  const long = `// ${words(20)}\n// ${words(11)}.`;
  expect(check(long).lines[0]).toMatch(/^1: 31 words/);
  const short = `// ${words(20)}\n// ${words(9)} \`a b. C d\`. So ${words(29)}.`;
  expect(check(short)).toEqual({ code: 0, lines: [''] });
});

it('leaves alone types, line comments, list items, drawings, directives, strings and text of a page', () => {
  const source = `
/** What a caller hands over. */
interface Handed {}
// One at a time.
// biome-ignore lint/x: that one
/**
 * ${words(16)}:
 * - ${words(16)}
 *   ${words(14)}
 * - ${words(16)}
 *
 *   a ──that one──► b
 */
const text = ['// that one', \`/* that one */\`, /\\/\\/ that one/];
const page = <p>it's // that one</p>;
`;
  expect(check(source)).toEqual({ code: 0, lines: [''] });
});
