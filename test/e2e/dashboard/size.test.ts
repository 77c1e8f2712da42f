/** How much a browser loads of the dashboard, compressed. Needs `npm run build`. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { REPOSITORY } from '../../support/repository-root.js';

const DIRECTORY = join(REPOSITORY, 'dist/dashboard');
const KB = 1024;
const FIRST_LOAD_KB = 60;
const ALL_KB = 400;
const LOADED = /\.(?:js|css|html|svg)$/;
const FIRST_SCREEN = /^assets\/overview-screen-[\w-]+\.(?:js|css)$/;

const files = readdirSync(DIRECTORY, { recursive: true, encoding: 'utf8' }).filter((name) =>
  LOADED.test(name),
);
const text = (file: string): string => readFileSync(join(DIRECTORY, file), 'utf8');
const kilobytes = (names: readonly string[]): number =>
  names.reduce((sum, name) => sum + gzipSync(text(name), { level: 9 }).length, 0) / KB;

/** What a file loads by itself: `import` and `from`, `href` and `src`. Not `import()`. */
function loadedBy(file: string): string[] {
  const names = [...text(file).matchAll(/(?:\bfrom\s*|\bimport\s*|\bhref=|\bsrc=)["'](\.\/[^"']+)["']/g)];
  return names.map(([, name = '']) => join(file, '..', name)).filter((name) => files.includes(name));
}

function withAllThatTheyLoad(names: readonly string[]): string[] {
  const found = new Set(names);
  for (const name of found) for (const other of loadedBy(name)) found.add(other);
  return [...found];
}

it(`loads at most ${FIRST_LOAD_KB} KB before the overview is there`, () => {
  const first = withAllThatTheyLoad(['index.html', ...files.filter((name) => FIRST_SCREEN.test(name))]);
  expect(first.filter((name) => name.endsWith('.js')).length).toBeGreaterThan(2);
  expect(kilobytes(first)).toBeLessThan(FIRST_LOAD_KB);
});

it(`has at most ${ALL_KB} KB in all`, () => {
  expect(files.length).toBeGreaterThan(10);
  expect(kilobytes(files)).toBeLessThan(ALL_KB);
});
