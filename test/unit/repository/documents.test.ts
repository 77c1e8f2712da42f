/**
 * Holds that the links, files, variables, scripts and rooms that the pages name exist. The names of the program:
 * documented-*.test.ts.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  anchorsOf,
  fencesOf,
  inlineCodeOf,
  linksOf,
  proseOf,
  rowsOf,
  sectionOf,
} from '../../support/repository/markdown.js';
import { firstCells, inPages, MANUAL, read } from '../../support/repository/pages.js';
import { REPOSITORY } from '../../support/repository-root.js';

const MOST_LINES_OF_README = 200;
/** The rows of the vocabulary. */
const MOST_WORDS = 40;
const SCRIPTS_WITHOUT_RUN = ['start', 'test'];
/** npm runs these by itself. */
const HOOK_SCRIPT = /^(?:pre|post)/;

describe('the pages', () => {
  it('have links that lead somewhere, anchors included', () => {
    const isBroken = (page: string, target: string): boolean => {
      if (/^https?:/.test(target)) return false;
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? page : relative(REPOSITORY, resolve(REPOSITORY, dirname(page), path));
      if (!existsSync(join(REPOSITORY, file))) return true;
      return anchor !== undefined && !anchorsOf(read(file)).has(anchor);
    };
    expect(linksOf(read('README.md')).length).toBeGreaterThan(10);
    expect(inPages((text, page) => linksOf(text).filter((target) => isBroken(page, target)))).toEqual([]);
  });

  it('name files that exist', () => {
    const isFile = /^(?:src|controllers|tools|test|manifests|docs|templates)\/[\w./-]+\.\w+$/;
    const named = (text: string): string[] => inlineCodeOf(text).filter((code) => isFile.test(code));
    expect(named(read('controllers/reference.md')).length).toBeGreaterThan(10);
    expect(inPages((text) => named(text).filter((file) => !existsSync(join(REPOSITORY, file))))).toEqual([]);
  });

  it('name environment variables that the program, its tests, its tools or its examples read', () => {
    const source = ['src', 'controllers', 'tools', 'test']
      .flatMap((folder) => readdirSync(join(REPOSITORY, folder), { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile() && /\.(?:ts|sh)$/.test(entry.name))
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
      .concat(read('vitest.config.ts'), read('manifests/ci/github.yml'))
      .join('\n');
    const known = new Set(source.match(/DROVER_[A-Z_]*[A-Z]/g));
    expect(known.size).toBeGreaterThan(10);
    expect(
      inPages((text) => (text.match(/DROVER_[A-Z_]*[A-Z]/g) ?? []).filter((name) => !known.has(name))),
    ).toEqual([]);
  });

  it('of the manual say first what the reader can do after them', () => {
    const openings = MANUAL.map((page) => proseOf(read(page))[2] ?? '');
    expect(openings.filter((line) => !line.startsWith('After this page you '))).toEqual([]);
  });

  it('of the manual are all linked from README.md', () => {
    const links = linksOf(read('README.md'));
    expect(
      [...MANUAL, 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'].filter((page) => !links.includes(page)),
    ).toEqual([]);
  });

  it('explain the controllers on one page, with a vocabulary that a person can keep in mind', () => {
    const page = read('controllers/README.md');
    expect(page.split('\n').length).toBeLessThanOrEqual(MOST_LINES_OF_README);
    expect(firstCells(sectionOf(page, '## Vocabulary')).length).toBeLessThanOrEqual(MOST_WORDS);
  });

  it('hold no mark of a merge that was not finished', () => {
    expect(inPages((text) => text.match(/^(?:<{7}|>{7}) .*/gm) ?? [])).toEqual([]);
  });

  it('begin with a README.md that is a door, not a manual', () => {
    const lines = read('README.md').trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(MOST_LINES_OF_README);
    expect(lines).toContainEqual(expect.stringMatching(/^npm ci && npm start /));
    expect(lines).toContainEqual(expect.stringMatching(/^npm ci && npm test /));
  });
});

describe('the scripts of package.json', () => {
  const { scripts } = z
    .object({ scripts: z.record(z.string(), z.string()) })
    .parse(JSON.parse(read('package.json')));
  const named = (text: string): string[] => {
    const runs = [...text.matchAll(/npm run (?:--silent )?([\w:-]+)/g)].map(([, name = '']) => name);
    return [...runs, ...SCRIPTS_WITHOUT_RUN.filter((name) => text.includes(`npm ${name}`))];
  };

  it('are there when a page names them', () => {
    expect(inPages((text) => named(text).filter((name) => !Object.hasOwn(scripts, name)))).toEqual([]);
  });

  it('stand in README.md or CONTRIBUTING.md', () => {
    const known = new Set([...named(read('README.md')), ...named(read('CONTRIBUTING.md'))]);
    const unnamed = Object.keys(scripts).filter((name) => !known.has(name) && !HOOK_SCRIPT.test(name));
    expect(unnamed).toEqual([]);
  });
});

describe('the rooms', () => {
  const rows = rowsOf(sectionOf(read('docs/architecture.md'), '## The rooms')).map((cells) =>
    cells.join(' | '),
  );
  const foldersOf = (path: string): string[] =>
    readdirSync(join(REPOSITORY, path), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);

  it('all have a row in docs/architecture.md, which names the rooms in them', () => {
    const missing = foldersOf('src').flatMap((room) => {
      const row = rows.find((text) => text.startsWith(`[\`src/${room}/\`]`));
      if (row === undefined) return [`src/${room}/`];
      return foldersOf(`src/${room}`)
        .filter((inner) => !row.includes(`\`${inner}/\``))
        .map((inner) => `src/${room}/${inner}/`);
    });
    expect(missing).toEqual([]);
  });
});

describe('the check of the documents', () => {
  const text = [
    '# A `b`: c',
    '',
    '[x](y.md#z) and `a  b`',
    '```sh',
    '# no heading',
    'drover start',
    '```',
    '## A b c',
  ];

  it('sees headings, links, code and fences', () => {
    const page = text.join('\n');
    expect([...anchorsOf(page)]).toEqual(['a-b-c', 'a-b-c-1']);
    expect(linksOf(page)).toEqual(['y.md#z']);
    expect(inlineCodeOf(page)).toEqual(['b', 'a b']);
    expect(fencesOf(page)).toEqual([{ language: 'sh', lines: ['# no heading', 'drover start'] }]);
  });

  it('sees rows of tables without their heads, and sections without what follows them', () => {
    const table = [
      '## One',
      '| head | more |',
      '|---|---|',
      '| `a \\| b` | c |',
      '### Two',
      '## Three',
      '| d | e |',
    ];
    expect(rowsOf(table.join('\n'))).toEqual([
      ['`a \\| b`', 'c'],
      ['d', 'e'],
    ]);
    expect(rowsOf(sectionOf(table.join('\n'), '## One'))).toEqual([['`a \\| b`', 'c']]);
  });
});
