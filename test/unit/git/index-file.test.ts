/** The index of git, cut and changed at every place: it is read, or it is not. */
import { describe, expect, it } from 'vitest';
import { applyDelta } from '../../../src/git/delta.js';
import { parseIndex } from '../../../src/git/index-file.js';

const BLOB = 'ab'.repeat(20);

/** An index of version 2 with these paths. */
function indexOf(...paths: string[]): Buffer {
  const head = Buffer.alloc(12);
  head.write('DIRC');
  head.writeUInt32BE(2, 4);
  head.writeUInt32BE(paths.length, 8);
  const entries = paths.map((path) => {
    const fields = Buffer.alloc(40);
    fields.writeUInt32BE(path.length, 36);
    const named = Buffer.concat([
      fields,
      Buffer.from(BLOB, 'hex'),
      Buffer.from([0, path.length]),
      Buffer.from(path),
    ]);
    return Buffer.concat([named, Buffer.alloc(8 - (named.length % 8))]);
  });
  return Buffer.concat([head, ...entries, Buffer.alloc(20)]);
}

describe('the index of git', () => {
  const wanted = new Set(['configurations/b.json', 'c.json']);

  it('gives the files that are asked for', () => {
    const entries = parseIndex(indexOf('a', 'configurations/b.json', 'z.json'), wanted, 20);
    expect([...(entries ?? [])].map(([path, { blob, size }]) => `${path} ${blob} ${size}`)).toEqual([
      `configurations/b.json ${BLOB} 21`,
    ]);
  });

  it('is nothing when it ends too early', () => {
    const whole = indexOf('a', 'configurations/b.json');
    for (let length = 0; length < whole.length; length++)
      expect(parseIndex(whole.subarray(0, length), wanted, 20)).toBeUndefined();
  });

  it('never throws, whatever byte of it is another', () => {
    for (const version of [2, 3, 4]) {
      const whole = indexOf('a', 'configurations/b.json', 'c.json');
      whole.writeUInt32BE(version, 4);
      for (let at = 0; at < whole.length; at++)
        for (const byte of [0, 0x40, 0x7f, 0x80, 0xff]) {
          const changed = Buffer.from(whole);
          changed.writeUInt8(byte, at);
          expect(() => parseIndex(changed, wanted, 20)).not.toThrow();
        }
    }
  });

  it('is not read when a part of it is in another file', () => {
    const whole = indexOf('c.json');
    const link = Buffer.concat([Buffer.from('link'), Buffer.from([0, 0, 0, 2, 1, 1])]);
    const split = Buffer.concat([whole.subarray(0, -20), link, whole.subarray(-20)]);
    expect(parseIndex(split, wanted, 20)).toBeUndefined();
  });
});

describe('a delta', () => {
  const base = Buffer.from('0123456789');

  it('takes pieces of its base and bytes of its own', () => {
    const delta = Buffer.from([10, 6, 0x91, 2, 3, 3, 0x61, 0x62, 0x63]);
    expect(applyDelta(base, delta, 100)?.toString()).toBe('234abc');
  });

  it.each([
    ['is for another base', [9, 1, 1, 0x61]],
    ['makes more than is allowed', [10, 0xff, 0x7f, 1, 0x61]],
    ['makes more than it says', [10, 1, 2, 0x61, 0x62]],
    ['makes less than it says', [10, 2, 1, 0x61]],
    ['takes what is behind its base', [10, 3, 0x91, 9, 3]],
    ['ends in the middle', [10, 3, 0x91, 9]],
    ['has a code that is not known', [10, 1, 0, 0x61]],
    ['has no sizes', []],
  ])('is refused when it %s', (_what, bytes) => {
    expect(applyDelta(base, Buffer.from(bytes), 100)).toBeUndefined();
  });
});
