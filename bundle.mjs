/**
 * Brings `dist/` up to date with the sources, and does nothing where it is. `npm run build` calls it after the type check,
 * `npm start` before the start.
 *
 * A daemon may run from `dist/` and loads its chunks when it first needs them. So a build goes into a directory of its
 * own, and its files then replace the old ones one by one: chunks first, programs last. Chunks of earlier builds stay for
 * 30 days after the last build that made them, and `npm pack` leaves them out.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

/** Whatever a build reads. The last one, written by npm, says which packages are installed. */
const SOURCES = [
  'src',
  'controllers',
  'tools',
  'bundle.mjs',
  'package.json',
  'rolldown.config.ts',
  'tsconfig.json',
  'vite.config.ts',
  'node_modules/.package-lock.json',
];
/** Holds the digest of the sources that `dist/` was built from. */
const STAMP = 'dist/.sources';
const LISTS = ['bom.cdx.json', 'dashboard/bom.cdx.json'];
const KEPT_MS = 30 * 24 * 3600 * 1000;

process.chdir(import.meta.dirname);
const digest = digestOf(SOURCES);
if (!existsSync(STAMP) || readFileSync(STAMP, 'utf8') !== digest) {
  const fresh = mkdtempSync('dist.');
  try {
    run('rolldown', '-c', '--dir', fresh);
    run('vite', 'build', '--logLevel', 'warn', '--outDir', join(import.meta.dirname, fresh, 'dashboard'));
    joinLists(fresh);
    swapIn(fresh);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

function run(program, ...parameters) {
  execFileSync(join('node_modules/.bin', program), parameters, { stdio: ['ignore', 'ignore', 'inherit'] });
}

/** The files below a directory, by paths from there, in a fixed order. */
function filesOf(directory) {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true })
    .filter((path) => statSync(join(directory, path)).isFile())
    .sort();
}

function digestOf(paths) {
  const hash = createHash('sha256');
  const files = paths.flatMap((path) =>
    path.includes('.') ? path : filesOf(path).map((file) => join(path, file)),
  );
  for (const file of files)
    if (existsSync(file))
      hash.update(`${file}\0`).update(createHash('sha256').update(readFileSync(file)).digest());
  return hash.digest('hex');
}

/** One list of packages for both bundles. */
function joinLists(fresh) {
  const [program, page] = LISTS.map((path) => JSON.parse(readFileSync(join(fresh, path), 'utf8')));
  const byAddress = new Map([...program.components, ...page.components].map((one) => [one.purl, one]));
  program.components = [...byAddress.values()].sort((a, b) => (a.purl < b.purl ? -1 : 1));
  for (const path of LISTS) rmSync(join(fresh, path));
  writeFileSync(join(fresh, LISTS[0]), `${JSON.stringify(program, null, 2)}\n`);
}

function swapIn(fresh) {
  const isChunk = (path) => path.startsWith('chunks/');
  const files = filesOf(fresh);
  const old = filesOf('dist').filter((path) => !files.includes(path));
  const kept = old.filter(
    (path) => isChunk(path) && Date.now() - statSync(join('dist', path)).mtimeMs < KEPT_MS,
  );
  rmSync(STAMP, { force: true });
  for (const path of [...files.filter(isChunk), ...files.filter((path) => !isChunk(path))]) {
    mkdirSync(dirname(join('dist', path)), { recursive: true });
    renameSync(join(fresh, path), join('dist', path));
  }
  for (const path of old) if (!kept.includes(path)) rmSync(join('dist', path), { force: true });
  writeFileSync('dist/chunks/.npmignore', kept.map((path) => `${path.slice('chunks/'.length)}\n`).join(''));
  writeFileSync(STAMP, digest);
}
