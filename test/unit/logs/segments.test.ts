/** Which part of an instance's output is kept, and that no line of it is torn. */

import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pruneLogs } from '../../../src/logs/prune.js';
import { bytesAfter, SegmentWriter } from '../../../src/logs/segment-writer.js';

let root: string;
let directory: string;
beforeEach(() => {
  root = fs.mkdtempSync(join(tmpdir(), 'drover-segments-'));
  directory = join(root, 'aaaaaa');
});
afterEach(() => fs.rmSync(root, { recursive: true }));

const limits = { segmentBytes: 20, segments: 3 };

function contents(): Record<string, string> {
  const entries = fs
    .readdirSync(directory)
    .filter((name) => name.endsWith('.log'))
    .sort();
  return Object.fromEntries(entries.map((name) => [name, fs.readFileSync(join(directory, name), 'utf8')]));
}

function write(writer: SegmentWriter, ...chunks: string[]): void {
  for (const chunk of chunks) writer.write(Buffer.from(chunk));
}

describe('rotation', () => {
  it('names a segment by its first line and never cuts a line', () => {
    const writer = new SegmentWriter(directory, limits);
    write(writer, 'one\ntwo\nthree\n', 'four\nfive\nsix\n', 'seven');
    writer.close();
    expect(contents()).toEqual({
      '000000000001.log': 'one\ntwo\nthree\nfour\n',
      '000000000005.log': 'five\nsix\nseven',
    });
  });

  it('takes an unfinished line along into the next segment', () => {
    const writer = new SegmentWriter(directory, limits);
    write(writer, 'one\ntwo\nthr', 'ee and more text\n');
    writer.close();
    expect(contents()).toEqual({
      '000000000001.log': 'one\ntwo\n',
      '000000000003.log': 'three and more text\n',
    });
  });

  it('cuts a line that is longer than a segment and counts the rest as a line', () => {
    const writer = new SegmentWriter(directory, limits);
    write(writer, 'a\n', 'x'.repeat(30), '\nb\n');
    writer.close();
    expect(contents()).toEqual({
      '000000000001.log': 'a\n',
      '000000000002.log': 'x'.repeat(20),
      '000000000003.log': `${'x'.repeat(10)}\nb\n`,
    });
  });

  it('keeps no more segments than allowed and goes on counting', () => {
    const writer = new SegmentWriter(directory, limits);
    for (let line = 1; line <= 100; line++) write(writer, `line ${line}\n`);
    writer.close();
    expect(contents()).toEqual({
      '000000000097.log': 'line 97\nline 98\n',
      '000000000099.log': 'line 99\nline 100\n',
      '000000000095.log': 'line 95\nline 96\n',
    });
  });
});

describe('a new writer', () => {
  it('goes on in the newest segment with the right line number', () => {
    const first = new SegmentWriter(directory, limits);
    write(first, 'one\ntwo\nthree');
    first.close();
    const second = new SegmentWriter(directory, limits);
    second.open();
    second.endLine();
    write(second, 'four\nfive\n');
    second.close();
    expect(contents()).toEqual({
      '000000000001.log': 'one\ntwo\nthree\nfour\n',
      '000000000005.log': 'five\n',
    });
  });

  it('goes on in a full segment whose last line is not finished', () => {
    const first = new SegmentWriter(directory, limits);
    write(first, 'one\nhalf of a line ');
    first.close();
    const second = new SegmentWriter(directory, limits);
    write(second, 'goes on\n');
    second.close();
    // The finished line would be 23 bytes, more than a segment holds.
    expect(contents()).toEqual({
      '000000000001.log': 'one\n',
      '000000000002.log': 'half of a line goes ',
      '000000000003.log': 'on\n',
    });
  });

  it('makes files and directory for its user alone', () => {
    const writer = new SegmentWriter(directory, limits);
    write(writer, 'x\n');
    writer.close();
    expect(fs.statSync(directory).mode & 0o777).toBe(0o700);
    expect(fs.statSync(join(directory, '000000000001.log')).mode & 0o777).toBe(0o600);
  });
});

describe('what an instance may have put in the way', () => {
  it('follows no link', () => {
    fs.mkdirSync(directory);
    const target = join(root, 'target');
    fs.writeFileSync(target, 'untouched');
    fs.symlinkSync(target, join(directory, '000000000001.log'));
    const writer = new SegmentWriter(directory, limits);
    expect(() => writer.open()).toThrow(/ELOOP/);
    write(writer, 'x\n');
    writer.close();
    expect(fs.readFileSync(target, 'utf8')).toBe('untouched');
  });

  it('does not wait for the reader of a FIFO', () => {
    fs.mkdirSync(directory);
    execFileSync('mkfifo', [join(directory, '000000000001.log')]);
    expect(() => new SegmentWriter(directory, limits).open()).toThrow(/not a regular file/);
  });

  it('does not write through a directory that is a link', () => {
    fs.mkdirSync(join(root, 'elsewhere'));
    fs.symlinkSync(join(root, 'elsewhere'), directory);
    const writer = new SegmentWriter(directory, limits);
    write(writer, 'x\n');
    writer.close();
    expect(fs.readdirSync(join(root, 'elsewhere'))).toEqual([]);
  });
});

describe('a disk that does not take it', () => {
  it('says how much was lost once it can write again', () => {
    const writer = new SegmentWriter(directory, { segmentBytes: 200, segments: 2 });
    write(writer, 'before\n');
    writer.close();
    const blocked = new SegmentWriter(join(root, 'file', 'aaaaaa'), { segmentBytes: 200, segments: 2 });
    fs.writeFileSync(join(root, 'file'), 'in the way');
    write(blocked, 'lost one\n', 'lost two\n');
    fs.rmSync(join(root, 'file'));
    write(blocked, 'kept\n');
    blocked.close();
    expect(fs.readFileSync(join(root, 'file', 'aaaaaa', '000000000001.log'), 'utf8')).toBe(
      '[drover] 18 bytes of output lost: the system answered ENOTDIR\nkept\n',
    );
  });

  const disk = fs.mkdtempSync(join(tmpdir(), 'drover-log-disk-'));
  const isMounted = mountSmallDisk(disk);
  afterAll(() => {
    if (isMounted) execFileSync('umount', [disk]);
    fs.rmSync(disk, { recursive: true });
  });

  it.skipIf(!isMounted)('drops output while it is full (needs the right to mount a tmpfs)', () => {
    const writer = new SegmentWriter(join(disk, 'aaaaaa'), { segmentBytes: 1024 * 1024, segments: 2 });
    const ballast = join(disk, 'ballast');
    fs.writeFileSync(ballast, Buffer.alloc(200 * 1024));
    for (let n = 0; n < 400; n++) write(writer, `${'x'.repeat(999)}\n`);
    fs.rmSync(ballast);
    write(writer, 'after\n');
    writer.close();
    const text = fs.readFileSync(join(disk, 'aaaaaa', '000000000001.log'), 'utf8');
    const [kept = '', ...rest] = text.split('[drover] ');
    expect(rest).toHaveLength(1);
    const said = /^(\d+) bytes of output lost: the disk is full \(ENOSPC\)\nafter\n$/.exec(rest[0] ?? '');
    // A line that was cut by the full disk was ended before the note.
    const ended = kept.length % 1000 === 0 ? 0 : 1;
    expect(kept.length - ended + Number(said?.[1])).toBe(400_000);
  });
});

describe('pruning', () => {
  it('keeps the logs of what exists and the newest of what was removed', async () => {
    for (const [index, id] of ['aaaaaa', 'bbbbbb', 'cccccc', 'dddddd'].entries()) {
      const path = join(root, id);
      const writer = new SegmentWriter(path, limits);
      write(writer, 'x\n');
      writer.close();
      fs.utimesSync(join(path, '000000000001.log'), index, index);
    }
    fs.mkdirSync(join(root, 'not an id'));
    const day = 86_400_000;
    const existing = new Set(['aaaaaa']);
    expect(await pruneLogs(root, existing, day, { logs: 2, bytes: 6 })).toEqual([]);
    expect(await pruneLogs(root, existing, day + 1001, { logs: 2, bytes: 6 })).toEqual(['bbbbbb']);
    expect(fs.readdirSync(root).sort()).toEqual(['aaaaaa', 'cccccc', 'dddddd', 'not an id']);
    expect(await pruneLogs(root, existing, day, { logs: 1, bytes: 3 })).toEqual(['cccccc']);
    expect(await pruneLogs(join(root, 'nowhere'), existing, day)).toEqual([]);
  });
});

function mountSmallDisk(path: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=400k', 'tmpfs', path], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

describe('after a writer was killed', () => {
  it('finishes the move of a line that was cut off, so that it stands there once', () => {
    fs.mkdirSync(directory);
    fs.writeFileSync(join(directory, '000000000001.log'), 'one\ntwo\nunfinished');
    for (const moved of ['', 'unfin', 'unfinished']) {
      fs.writeFileSync(join(directory, '000000000001.log'), 'one\ntwo\nunfinished');
      fs.writeFileSync(join(directory, '000000000003.log'), moved);
      const writer = new SegmentWriter(directory, limits);
      write(writer, ' line\n');
      writer.close();
      expect(contents()).toEqual({
        '000000000001.log': 'one\ntwo\n',
        '000000000003.log': 'unfinished line\n',
      });
    }
  });

  it('leaves a line alone that was cut because it fills a segment', () => {
    const writer = new SegmentWriter(directory, limits);
    write(writer, 'x'.repeat(30));
    writer.close();
    const next = new SegmentWriter(directory, limits);
    write(next, 'y\n');
    next.close();
    expect(contents()).toEqual({
      '000000000001.log': 'x'.repeat(20),
      '000000000002.log': `${'x'.repeat(10)}y\n`,
    });
  });

  it('tells how much was written since a place, whatever moved meanwhile', () => {
    const writer = new SegmentWriter(directory, limits);
    write(writer, 'before, and unfin');
    const place = writer.position;
    if (place === undefined) throw new Error('no log');
    let written = 0;
    for (const text of ['ished\n', 'a line\n', 'and another\n', 'open']) {
      write(writer, text);
      written += text.length;
      expect(bytesAfter(directory, place)).toBe(written);
    }
    writer.close();
    fs.rmSync(join(directory, '000000000001.log'));
    expect(bytesAfter(directory, place)).toBeUndefined();
  });

  it('says whether the log grew by exactly what was given', () => {
    const writer = new SegmentWriter(directory, limits);
    expect(writer.write(Buffer.from('one\n'))).toBe(true);
    writer.close();
    expect(writer.write(Buffer.from('two\n'))).toBe(false);
  });
});

describe('a segment that is removed or renamed from outside while it is written', () => {
  let now = 0;
  const wide = { segmentBytes: 2000, segments: 3 };
  const writerOf = (): SegmentWriter => new SegmentWriter(directory, wide, () => now);
  const note = (bytes: number): string =>
    `[drover] ${bytes} bytes of output lost: 000000000001.log was removed or renamed while it was written\n`;

  it.each([
    ['the segment', () => fs.rmSync(join(directory, '000000000001.log'))],
    ['the directory', () => fs.rmSync(directory, { recursive: true })],
    ['all logs', () => fs.rmSync(root, { recursive: true })],
    ['moved away', () => fs.renameSync(join(directory, '000000000001.log'), join(root, 'mine'))],
  ])('%s: the log goes on in a new one within a second of output, and says so', (_what, remove) => {
    const writer = writerOf();
    write(writer, 'one\ntwo\n');
    remove();
    now += 1000;
    expect(writer.write(Buffer.from('three\n'))).toBe(false);
    write(writer, 'four\n');
    expect(contents()).toEqual({ '000000000003.log': `${note(8)}three\nfour\n` });
    writer.close();
  });

  it('a directory that was moved away is made anew', () => {
    const writer = writerOf();
    write(writer, 'one\n');
    fs.renameSync(directory, join(root, 'moved'));
    now += 1000;
    write(writer, 'two\n');
    expect(contents()).toEqual({ '000000000002.log': `${note(4)}two\n` });
    writer.close();
  });

  it('older segments stay, and no number is given twice', () => {
    const writer = new SegmentWriter(directory, limits, () => now);
    write(writer, 'one\ntwo\nthree\n', 'four\nfive\n');
    fs.rmSync(join(directory, '000000000005.log'));
    now += 1000;
    write(writer, 'six\n');
    expect(Object.keys(contents())).toEqual(['000000000001.log', '000000000006.log', '000000000007.log']);
    writer.close();
  });

  it('another file in its place is not written into', () => {
    const writer = writerOf();
    write(writer, 'one\n');
    fs.renameSync(join(directory, '000000000001.log'), join(root, 'mine'));
    fs.writeFileSync(join(directory, '000000000001.log'), 'edited\n');
    now += 1000;
    write(writer, 'two\n');
    expect(contents()).toEqual({
      '000000000001.log': 'edited\n',
      '000000000002.log': `${note(4)}two\n`,
    });
    writer.close();
  });

  it('an index of times that was removed is made anew', () => {
    const writer = writerOf();
    write(writer, 'one\n');
    const index = fs.readdirSync(directory).find((name) => !name.endsWith('.log')) ?? '';
    fs.rmSync(join(directory, index));
    now += 1000;
    write(writer, 'two\n');
    expect(fs.readdirSync(directory)).toContain(index);
    expect(contents()).toEqual({ '000000000001.log': 'one\ntwo\n' });
    writer.close();
  });
});
