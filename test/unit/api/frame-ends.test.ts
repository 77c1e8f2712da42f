/** Where frames of a WebSocket end, whatever the pieces are in which they come. */
import { describe, expect, it } from 'vitest';
import { closeFrame, FrameEnds } from '../../../src/api/forward/frame-ends.js';
import { encodeTextFrames } from '../../../src/api/sockets/text-frames.js';

const SIZES = [0, 1, 125, 126, 65_535, 65_536, 70_000];

describe('the frames of a WebSocket', () => {
  it.each([1, 2, 3, 7, 1000, 1_000_000])('are followed in pieces of %i bytes', (piece) => {
    const frames = SIZES.map((size) => encodeTextFrames(['x'.repeat(size)]));
    const ends = new Set<number>();
    let total = 0;
    for (const frame of frames) {
      total += frame.length;
      ends.add(total);
    }
    const bytes = Buffer.concat(frames);
    const followed = new FrameEnds();
    const found = [];
    const expected = [];
    for (let at = 0; at < bytes.length; at += piece) {
      const end = Math.min(at + piece, bytes.length);
      followed.take(bytes.subarray(at, end));
      if (followed.isBetween) found.push(end);
      if (ends.has(end)) expected.push(end);
    }
    expect(found).toEqual(expected);
    expect(followed).toMatchObject({ isClosed: false, isBetween: true });
  });

  it('say when the server closes', () => {
    const followed = new FrameEnds();
    followed.take(encodeTextFrames(['one']));
    followed.take(closeFrame(1001, 'gone'));
    expect(followed).toMatchObject({ isClosed: true, isBetween: true });
  });
});
