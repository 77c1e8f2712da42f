/** Contents of templates that change under the watch of the library, and the bounds of that watch. */
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ContentWatch } from '../../../src/templates/library/content-watch.js';
import { TemplateLibrary } from '../../../src/templates/library/library.js';
import { digestTree } from '../../../src/templates/tree/digest.js';
import { walkTree } from '../../../src/templates/tree/tree.js';
import { TreeDigest } from '../../../src/templates/tree/tree-digest.js';
import { drawn } from '../../support/drawn.js';
import { FakeClock } from '../../support/fake-clock.js';
import {
  forever,
  quietLogger,
  temporaryDirectory,
  writeTree,
} from '../../support/templates/template-trees.js';
import { until } from '../../support/until.js';

const EDITS = [
  'write',
  'make executable',
  'move a directory',
  'remove a directory',
  'make a directory anew',
  'replace the template',
  'replace the group',
] as const;
type Edit = (typeof EDITS)[number];

let root: string;
let clock: FakeClock;

beforeEach(() => {
  root = temporaryDirectory();
  clock = new FakeClock({ startAt: Date.now() });
});

afterEach(() => rmSync(root, { recursive: true }));

/** What the system has told by now has reached its listeners. */
async function heard(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await nextTurn();
}

async function truthOf(path: string): Promise<string> {
  const place = { root: path, label: 'the tree' };
  return await digestTree(place, await walkTree(place, forever), forever);
}

/** Where the inodes of directories that have other names by now are kept. */
function aside(path: string): string {
  let number = 0;
  while (existsSync(join(root, `aside-${number}`))) number++;
  const to = join(root, `aside-${number}`);
  renameSync(path, to);
  return to;
}

describe('the digest of a template that is edited by hand', () => {
  it('is always that of what was saved last, whatever is written, moved, removed or made anew', async () => {
    const random = drawn('edits of a template');
    const templates = join(root, 'templates');
    const template = join(templates, 'g/t');
    writeTree(template, { a: '0', 'd/b': '0', 'd/e/c': '0' });
    const library = new TemplateLibrary(templates, clock, quietLogger);
    await library.start();
    let content = 0;
    const write = (path: string): void => {
      mkdirSync(dirname(path), { recursive: true });
      // Of one length: the size tells nothing.
      writeFileSync(path, String(++content).padStart(6, '0'));
    };
    const directory = (): string => join(template, random.pick(['d', 'd/e', 'f', 'd/g']));
    const edits: Readonly<Record<Edit, () => void>> = {
      write: () => write(join(template, random.pick(['a', 'd/b', 'd/e/c', 'f/x']))),
      'make executable': () => {
        write(join(template, 'a'));
        chmodSync(join(template, 'a'), 0o755);
      },
      'move a directory': () => {
        const from = directory();
        if (!existsSync(from)) return;
        const away = aside(from);
        const to = directory();
        rmSync(to, { recursive: true, force: true });
        mkdirSync(dirname(to), { recursive: true });
        renameSync(away, to);
      },
      'remove a directory': () => rmSync(directory(), { recursive: true, force: true }),
      'make a directory anew': () => {
        const path = directory();
        rmSync(path, { recursive: true, force: true });
        write(join(path, 'new'));
      },
      'replace the template': () => {
        aside(template);
        write(join(template, 'd/b'));
      },
      'replace the group': () => {
        aside(dirname(template));
        write(join(template, 'd/e/c'));
      },
    };
    try {
      for (let round = 0; round < 120; round++) {
        const edit = random.pick(EDITS);
        edits[edit]();
        await heard();
        expect(await library.digest('g', 't'), `round ${round}: ${edit}`).toBe(await truthOf(template));
        // Sometimes the watch has time to settle, sometimes not.
        for (let pause = random.below(40); pause > 0; pause--) await stat(template);
        if (random.chance(0.3)) await clock.advance(300);
      }
    } finally {
      await library.stop();
    }
  });
});

describe('a tree under watch', () => {
  it('is looked at once, until the watch says that it may have changed', async () => {
    writeTree(root, { a: 'one', 'd/b': 'x' });
    const followed: string[][] = [];
    let isWatched: boolean | undefined = true;
    const tree = new TreeDigest({
      place: { root, label: 'the tree' },
      clock,
      follow: (directories) => {
        followed.push([...directories.keys()].map((path) => path.slice(root.length)));
        return isWatched;
      },
    });
    const first = await tree.read(forever);
    for (let call = 0; call < 100; call++) expect(await tree.read(forever)).toBe(first);
    await clock.advance(3_600_000);
    await tree.read(forever);
    expect(followed).toEqual([['', '/d']]);
    writeFileSync(join(root, 'a'), 'two');
    tree.distrust();
    isWatched = false;
    expect(await tree.read(forever)).not.toBe(first);
    await tree.read(forever);
    expect(followed, 'a watch that has not begun is no reason to believe').toHaveLength(3);
    isWatched = undefined;
    for (let call = 0; call < 100; call++) await tree.read(forever);
    expect(followed, 'without a watch it is believed for a second').toHaveLength(4);
    await clock.advance(1000);
    await tree.read(forever);
    expect(followed).toHaveLength(5);
  });
});

describe('the watch on contents', () => {
  let hints: string[];
  let refused: string[];
  let watch: ContentWatch;

  beforeEach(() => {
    hints = [];
    refused = [];
    watch = new ContentWatch({
      onHint: (key) => hints.push(key),
      onRefused: (key, why) => refused.push(`${key}: ${why}`),
      clock,
      maxDirectories: 3,
    });
  });

  afterEach(() => watch.stop());

  function directories(...names: string[]): Map<string, bigint> {
    return new Map(
      names.map((name) => {
        const path = join(root, name);
        mkdirSync(path, { recursive: true });
        return [path, statSync(path, { bigint: true }).ino];
      }),
    );
  }

  async function begun(key: string, ...names: string[]): Promise<void> {
    const wanted = directories(...names);
    await until(() => expect(watch.follow(key, wanted)).toBe(true));
  }

  it('tells of a change in every directory, at once', async () => {
    await begun('g/t', 'a', 'a/b');
    hints = [];
    for (const path of ['a/f', 'a/b/f']) {
      writeFileSync(join(root, path), 'x');
      await heard();
      expect(hints.length, path).toBeGreaterThan(0);
      hints = [];
    }
  });

  it('begins anew for a directory that was made anew, even under its old inode', async () => {
    await begun('g/t', 'a', 'a/b');
    const wanted = directories('a', 'a/b');
    rmSync(join(root, 'a/b'), { recursive: true });
    mkdirSync(join(root, 'a/b'));
    await heard();
    expect(watch.follow('g/t', wanted)).toBe(false);
  });

  it('says once that the system has no watch left, and which setting gives more, however often it is tried', async () => {
    const left = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    watch = new ContentWatch({
      onHint: (key) => hints.push(key),
      onRefused: (key, why) => refused.push(`${key}: ${why}`),
      clock,
      watch: () => {
        throw left;
      },
    });
    const wanted = directories('a');
    for (let tries = 0; tries < 3; tries++) {
      expect(watch.follow('g/t', wanted)).toBe(false);
      await until(() => expect(watch.follow('g/t', wanted)).toBeUndefined());
      await clock.advance(60_000);
    }
    expect(refused).toEqual(['g/t: no inotify watch is left (ENOSPC); raise fs.inotify.max_user_watches']);
  });

  it('has a bound for all templates together, says so once, and gives the room of what nothing uses', async () => {
    await begun('g/one', 'a', 'b');
    const two = directories('c', 'd');
    expect(watch.follow('g/two', two)).toBeUndefined();
    expect(watch.follow('g/two', two)).toBeUndefined();
    expect(refused).toEqual(['g/two: it has 2 directories, and at most 3 are watched']);
    await clock.advance(300_000);
    watch.touch('g/one');
    await clock.advance(400_000);
    expect(watch.follow('g/two', two)).toBeUndefined();
    await clock.advance(300_000);
    await begun('g/two', 'c', 'd');
    expect(watch.follow('g/one', directories('a', 'b'))).toBeUndefined();
    expect(refused).toHaveLength(2);
  });
});
