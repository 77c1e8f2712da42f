/** The directory of templates as one side of a view: what it concludes of it, and what it never overwrites. */
import { renameSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { SystemClock } from '../../../src/loop/system-clock.js';
import { type TemplateRecord, templateRecordSchema } from '../../../src/model/template.js';
import { PREFIX, templateKey } from '../../../src/store/keys.js';
import { Mirror } from '../../../src/store/mirror.js';
import { GitTemplates } from '../../../src/templates/library/git-templates.js';
import { TemplateDirectory } from '../../../src/templates/library/template-directory.js';
import { packTree } from '../../../src/templates/transfer/bundle.js';
import { walkTree } from '../../../src/templates/tree/tree.js';
import { TreeDigest } from '../../../src/templates/tree/tree-digest.js';
import { TemplateTree, type TemplateTreeOptions } from '../../../src/templates/view/template-tree.js';
import { MemoryStore } from '../../support/store/memory-store.js';

const clock = new SystemClock();
const { signal } = new AbortController();
const NAME = 'games/arena';

let root: string;
let path: string;
let store: MemoryStore;
let records: Mirror<TemplateRecord>;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'drover-template-tree-'));
  path = join(root, 'templates');
  await mkdir(join(path, NAME), { recursive: true });
  await writeFile(join(path, NAME, 'rules'), 'one');
  store = new MemoryStore();
  records = new Mirror({
    store,
    prefix: PREFIX.templates,
    decode: (value) => templateRecordSchema.parse(value),
  });
  await records.start();
});
afterEach(async () => {
  await records.stop();
  await store.close();
  await rm(root, { recursive: true, force: true });
});

/** A directory of one template, on a file system that tells of no changes: a digest may be a second old. */
function library(): TemplateTreeOptions['library'] {
  const tree = new TreeDigest({ place: { root: join(path, NAME), label: NAME }, clock });
  return {
    groups: () => new Map([['games', ['arena']]]),
    digest: () => tree.read(signal),
    look: () => tree.look(signal),
  };
}

function treeWith(options: Partial<TemplateTreeOptions>): TemplateTree {
  const directory = new TemplateDirectory({
    directory: path,
    logger: pino({ level: 'silent' }),
    onWritten: async () => undefined,
  });
  const door = { write: () => Promise.reject(new Error('nothing is to be written there')) };
  const fetch = (): [] => [];
  const git = new GitTemplates({ nodeId: 'a', directory: path, logger: pino({ level: 'silent' }) });
  return new TemplateTree({
    ...{ nodeId: 'a', path, library: library(), git, directory, records, store, door, fetch, signal },
    ...options,
  });
}

it('takes an empty directory that takes the place of another during a look for another one', async () => {
  const known = library();
  let isExchanged = false;
  const tree = treeWith({
    library: {
      ...known,
      digest: async (group, name) => {
        if (isExchanged) {
          isExchanged = false;
          renameSync(path, join(root, 'away'));
          await mkdir(path);
        }
        return known.look(group, name);
      },
    },
  });
  await tree.look();
  const before = tree.observe();
  expect([...(before?.here.keys() ?? [])]).toEqual([NAME]);
  isExchanged = true;
  await tree.look();
  const after = tree.observe();
  expect(after?.here.size === 0 && after.standing.directory === before?.standing.directory).toBe(false);
});

it('overwrites no edit that came while the new content was on its way', async () => {
  const elsewhere = join(root, 'elsewhere');
  await mkdir(elsewhere);
  await writeFile(join(elsewhere, 'rules'), 'two');
  const place = { root: elsewhere, label: 'elsewhere' };
  const digest = (await new TreeDigest({ place, clock }).look(signal)) ?? '';
  await records.until(
    await store.transact([{ do: 'create', key: templateKey(NAME), value: { digest, sourceNode: 'b' } }]),
  );
  const edited = join(path, NAME, 'rules');
  const tree = treeWith({
    fetch: () => [
      (async function* () {
        yield* packTree(place, await walkTree(place, signal), signal);
        writeFileSync(edited, 'of a person');
      })(),
    ],
  });
  await tree.look();
  const present = tree.observe()?.here.get(NAME);
  await expect(tree.writeHere(NAME, digest, present)).rejects.toThrow('another content here now');
  expect(await readFile(edited, 'utf8')).toBe('of a person');
});
