/** One stream for several readers, each at its own pace. */
import { describe, expect, it } from 'vitest';
import { SharedStream } from '../../../src/templates/transfer/shared-stream.js';

const PIECES = Array.from({ length: 10 }, (_, index) => Buffer.alloc(100, index));
const WHOLE = Buffer.concat(PIECES);

function shared(windowBytes = 10_000) {
  const world = { opened: 0, closed: 0, unused: 0 };
  const open = async function* () {
    world.opened++;
    try {
      yield* PIECES;
    } finally {
      world.closed++;
    }
  };
  const stream = new SharedStream(open, () => void world.unused++, windowBytes);
  return { world, stream };
}

async function readAll(stream: SharedStream): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of stream.read()) pieces.push(piece);
  return Buffer.concat(pieces);
}

describe('a shared stream', () => {
  it('is made once and gives every reader all of it', async () => {
    const { world, stream } = shared();
    const readers = [readAll(stream), readAll(stream), readAll(stream)];
    for (const read of await Promise.all(readers)) expect(read.equals(WHOLE)).toBe(true);
    expect(world).toEqual({ opened: 1, closed: 1, unused: 1 });
  });

  it('can be joined as long as its beginning is kept', async () => {
    const { world, stream } = shared(300);
    const first = stream.read();
    for (let pieces = 0; pieces < 3; pieces++) await first.next();
    expect(stream.isJoinable).toBe(true);
    const second = stream.read();
    expect((await second.next()).value).toEqual(PIECES[0]);
    for (let pieces = 0; pieces < 3; pieces++) await first.next();
    expect(stream.isJoinable).toBe(false);
    await first.return(undefined);
    await second.return(undefined);
    expect(world).toEqual({ opened: 1, closed: 1, unused: 1 });
  });

  it('lets a reader that fell behind go on with a stream of its own, and holds up nobody', async () => {
    const { world, stream } = shared(250);
    const slow = stream.read();
    const read: Buffer[] = [];
    for (let pieces = 0; pieces < 2; pieces++) read.push((await slow.next()).value ?? Buffer.alloc(0));
    expect((await readAll(stream)).equals(WHOLE)).toBe(true);
    for await (const piece of slow) read.push(piece);
    expect(Buffer.concat(read).equals(WHOLE)).toBe(true);
    expect(world).toMatchObject({ opened: 2, closed: 2, unused: 1 });
  });

  it('passes an error on to every reader, also to one that comes to it later', async () => {
    const open = async function* () {
      yield Buffer.from('x');
      throw new Error('the file changed');
    };
    const stream = new SharedStream(open, () => undefined);
    const late = stream.read();
    await late.next();
    for (const result of await Promise.allSettled([readAll(stream), readAll(stream)]))
      expect(result).toMatchObject({ status: 'rejected', reason: new Error('the file changed') });
    await expect(late.next()).rejects.toThrow('the file changed');
    expect(stream.isJoinable).toBe(false);
  });
});
