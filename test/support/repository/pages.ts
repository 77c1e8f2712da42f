/** The pages that the tests of the documents read, and how these tests name the place of a fault. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { REPOSITORY } from '../repository-root.js';
import { rowsOf } from './markdown.js';

export const MANUAL = readdirSync(join(REPOSITORY, 'docs'))
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`);
export const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  'controllers/README.md',
  'controllers/reference.md',
  'test/README.md',
  'manifests/extensions/shared-folder/README.md',
  ...MANUAL,
];

export function read(path: string): string {
  return readFileSync(join(REPOSITORY, path), 'utf8');
}

/** The first cells of all rows, without backticks. */
export function firstCells(text: string): string[] {
  return rowsOf(text).map(([cell = '']) => cell.replaceAll('`', ''));
}

/** The finds of all pages as `page: what`, so that a failure says where to look. */
export function inPages(find: (text: string, page: string) => readonly string[], pages = PAGES): string[] {
  return pages.flatMap((page) => find(read(page), page).map((what) => `${page}: ${what}`));
}
