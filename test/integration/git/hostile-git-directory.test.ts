/** A git directory may hold anything: nothing hangs, nothing is thrown, and nothing outside is told. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GitObjects } from '../../../src/git/objects.js';
import { gitOriginsOf } from '../../../src/git/origins.js';

const COMMIT = 'c'.repeat(40);

describe('a hostile git directory', () => {
  let top: string;
  let git: string;

  beforeEach(() => {
    top = mkdtempSync(join(tmpdir(), 'drover-git-'));
    git = join(top, '.git');
    mkdirSync(join(git, 'refs', 'heads'), { recursive: true });
    mkdirSync(join(git, 'objects', 'pack'), { recursive: true });
    writeFileSync(join(top, 'lobby.json'), '{}');
  });
  afterEach(() => rmSync(top, { recursive: true, force: true }));

  const ask = async (): Promise<unknown> => [...(await gitOriginsOf(top, ['lobby.json'])).values()];

  it.each([
    ['leads out of it', 'ref: refs/../../lobby.json'],
    ['is a path', 'ref: /etc/hostname'],
    ['names itself', 'ref: refs/heads/loop'],
    ['is no commit', 'secret text of somebody'],
    ['is larger than any', `ref: refs/heads/${'x'.repeat(100_000)}`],
  ])('tells nothing when HEAD %s', async (_what, head) => {
    writeFileSync(join(git, 'HEAD'), head);
    writeFileSync(join(git, 'refs', 'heads', 'loop'), 'ref: refs/heads/loop');
    writeFileSync(join(top, 'lobby.json'), COMMIT);
    expect(await ask()).toEqual([]);
  });

  it('waits for no pipe', async () => {
    for (const name of ['HEAD', 'index', 'packed-refs']) execFileSync('mkfifo', [join(git, name)]);
    expect(await ask()).toEqual([]);
    rmSync(join(git, 'HEAD'));
    writeFileSync(join(git, 'HEAD'), COMMIT);
    expect(await ask()).toEqual([{ commit: COMMIT, isDirty: null }]);
  });

  it('goes round no circle of deltas, of alternates, or of git files', async () => {
    writeFileSync(join(git, 'HEAD'), COMMIT);
    mkdirSync(join(git, 'objects', 'info'));
    writeFileSync(join(git, 'objects', 'info', 'alternates'), '.\n../objects\n./../objects/.\n/dev\n');
    writePack(join(git, 'objects', 'pack', 'pack-1'), COMMIT);
    expect(await new GitObjects(git).read(COMMIT)).toBeUndefined();
    expect(await ask()).toEqual([{ commit: COMMIT, isDirty: null }]);
    rmSync(git, { recursive: true });
    writeFileSync(git, 'gitdir: .git');
    expect(await ask()).toEqual([]);
  });

  it('is not unpacked without end', async () => {
    const bomb = deflateSync(Buffer.concat([Buffer.from('tree 99999999\0'), Buffer.alloc(40_000_000)]));
    mkdirSync(join(git, 'objects', 'cc'));
    writeFileSync(join(git, 'objects', 'cc', COMMIT.slice(2)), bomb);
    writeFileSync(join(git, 'HEAD'), COMMIT);
    expect(await ask()).toEqual([{ commit: COMMIT, isDirty: null }]);
  });
});

/** A pack of one object: a delta whose base is that object itself. */
function writePack(path: string, hash: string): void {
  const delta = Buffer.from([1, 1, 1, 0x41]);
  // Kind 7: the base is named by its hash.
  const head = Buffer.from([(7 << 4) | delta.length]);
  const object = Buffer.concat([head, Buffer.from(hash, 'hex'), deflateSync(delta)]);
  const start = Buffer.from('PACK\0\0\0\x02\0\0\0\x01', 'latin1');
  const body = Buffer.concat([start, object]);
  writeFileSync(`${path}.pack`, Buffer.concat([body, createHash('sha1').update(body).digest()]));
  const fanOut = Buffer.alloc(256 * 4);
  for (let first = Number.parseInt(hash.slice(0, 2), 16); first < 256; first++)
    fanOut.writeUInt32BE(1, first * 4);
  const magic = Buffer.from([0xff, 0x74, 0x4f, 0x63, 0, 0, 0, 2]);
  const offset = Buffer.from([0, 0, 0, start.length]);
  writeFileSync(
    `${path}.idx`,
    Buffer.concat([magic, fanOut, Buffer.from(hash, 'hex'), Buffer.alloc(4), offset, Buffer.alloc(40)]),
  );
}
