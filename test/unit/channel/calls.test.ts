/**
 * Calls over one connection: answers, failures, streams under flow control, and how the end of the connection ends
 * them.
 */
import { readFile } from 'node:fs/promises';
import { describe, expect, it, vi } from 'vitest';
import { CallPeer, type Service, type Services } from '../../../src/channel/protocol/calls.js';
import { createInProcessPair, type Transport } from '../../../src/channel/protocol/transport.js';
import { DroverError, type ErrorCode } from '../../../src/model/errors.js';
import { until } from '../../support/until.js';

const WINDOW = 512 * 1024;
const CHUNK = 64 * 1024;

function connect(services: Services = {}): {
  caller: CallPeer;
  server: CallPeer;
  cut: (reason: string) => void;
} {
  const [mine, its] = createInProcessPair();
  const peer = (transport: Transport, served: Services): CallPeer => {
    const calls = new CallPeer(transport, served);
    transport.onFrame((frame) => calls.handle(frame));
    transport.onClose((reason) => calls.close(reason));
    return calls;
  };
  const caller = peer(mine, {});
  const server = peer(its, services);
  return { caller, server, cut: (reason) => its.close(reason) };
}

async function failure(answer: Promise<unknown>): Promise<{ code: ErrorCode; message: string }> {
  const error: unknown = await answer.then(
    (value) => expect.fail(`answered ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof DroverError)) throw error;
  return { code: error.code, message: error.message };
}

/** Never answers, and remembers whether it was told to stop. */
function hanging(): { service: Service; signals: AbortSignal[] } {
  const signals: AbortSignal[] = [];
  const service: Service = (_parameters, { signal }) => {
    signals.push(signal);
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true });
    });
  };
  return { service, signals };
}

/** Gives chunks for ever and counts them. */
function endless(): { service: Service; state: { given: number; isOver: boolean } } {
  const state = { given: 0, isOver: false };
  const service: Service = async function* () {
    try {
      for (;;) {
        state.given += CHUNK;
        yield Buffer.alloc(CHUNK, 'x');
      }
    } finally {
      state.isOver = true;
    }
  };
  return { service, state };
}

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
};

describe('a call', () => {
  it('answers with a value, and gets parameters and bytes as they were sent', async () => {
    const { caller } = connect({
      echo: async (parameters, { body }) => ({ parameters, bytes: body?.toString('hex') ?? null }),
      nothing: async () => undefined,
    });
    const body = Buffer.from([0, 255, 10, 27]);
    expect(await caller.call('echo', { a: [1, null] }, { body })).toEqual({
      parameters: { a: [1, null] },
      bytes: '00ff0a1b',
    });
    expect(await caller.call('nothing', {})).toBeNull();
  });

  it('works in both directions at once', async () => {
    const [mine, its] = createInProcessPair();
    const named = (name: string): Services => ({ name: async () => name });
    const a = new CallPeer(mine, named('a'));
    const b = new CallPeer(its, named('b'));
    mine.onFrame((frame) => a.handle(frame));
    its.onFrame((frame) => b.handle(frame));
    expect(await Promise.all([a.call('name', {}), b.call('name', {})])).toEqual(['b', 'a']);
  });

  it('fails with the code and message of the other side', async () => {
    const { caller } = connect({
      typed: async () => {
        throw new DroverError('DRV_STDIN_FULL', 'the instance does not read');
      },
      untyped: async () => {
        throw new TypeError('x is not a function');
      },
      atOnce: () => {
        throw new DroverError('DRV_TEMPLATE_UNKNOWN', 'no such template');
      },
      ofTheSystem: () => readFile('/no/such/directory/000000000001.log'),
    });
    expect(await failure(caller.call('typed', {}))).toEqual({
      code: 'DRV_STDIN_FULL',
      message: 'the instance does not read',
    });
    expect(await failure(caller.call('untyped', {}))).toMatchObject({ code: 'DRV_INTERNAL' });
    expect(await failure(caller.call('atOnce', {}))).toMatchObject({ code: 'DRV_TEMPLATE_UNKNOWN' });
    // It may go on to a client of the API, who is not told where things lie on the node.
    expect(await failure(caller.call('ofTheSystem', {}))).toEqual({
      code: 'DRV_INTERNAL',
      message: 'no such file or directory (ENOENT)',
    });
    expect(await failure(caller.call('unheard-of', {}))).toEqual({
      code: 'DRV_SERVICE_UNKNOWN',
      message: 'no service unheard-of',
    });
  });

  it('fails with a code of its own when the other side has a code that is not known here', async () => {
    const [mine, its] = createInProcessPair();
    const caller = new CallPeer(mine, {});
    mine.onFrame((frame) => caller.handle(frame));
    its.onFrame(({ message }) => {
      if (message.type === 'call')
        its.send({ type: 'failure', id: message.id, code: 'DRV_OF_A_LATER_VERSION', message: 'no' });
    });
    expect(await failure(caller.call('anything', {}))).toEqual({
      code: 'DRV_CHANNEL_CALL_FAILED',
      message: 'no',
    });
  });

  it('is cancelled on both sides by its signal', async () => {
    const { service, signals } = hanging();
    const { caller } = connect({ hang: service });
    const controller = new AbortController();
    const answer = failure(caller.call('hang', {}, { signal: controller.signal }));
    await until(() => expect(signals).toHaveLength(1));
    controller.abort();
    expect(await answer).toMatchObject({ code: 'DRV_CHANNEL_CALL_FAILED', message: 'hang was cancelled' });
    await until(() => expect(signals[0]?.aborted).toBe(true));
  });

  it('is not begun when its signal was aborted before', async () => {
    const { service, signals } = hanging();
    const { caller } = connect({ hang: service, ping: async () => 'pong' });
    const answer = failure(caller.call('hang', {}, { signal: AbortSignal.abort() }));
    expect(await answer).toMatchObject({ code: 'DRV_CHANNEL_CALL_FAILED' });
    expect(await caller.call('ping', {})).toBe('pong');
    expect(signals).toEqual([]);
  });

  it('leaves no listener on a signal that outlives it', async () => {
    const { caller } = connect({ ping: async () => 'pong' });
    const { signal } = new AbortController();
    const remove = vi.spyOn(signal, 'removeEventListener');
    const add = vi.spyOn(signal, 'addEventListener');
    await caller.call('ping', {}, { signal });
    expect(remove).toHaveBeenCalledTimes(add.mock.calls.length);
  });

  it('fails when the connection ends, and tells the side that works on it', async () => {
    const { service, signals } = hanging();
    const { caller, cut } = connect({ hang: service });
    const answers = [caller.call('hang', {}), caller.call('hang', {})].map(failure);
    await until(() => expect(signals).toHaveLength(2));
    cut('the plug was pulled');
    for (const answer of answers)
      expect(await answer).toEqual({
        code: 'DRV_CHANNEL_CLOSED',
        message: 'the connection to the other node ended: the plug was pulled',
      });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
    expect(await failure(caller.call('hang', {}))).toMatchObject({ code: 'DRV_CHANNEL_CLOSED' });
  });

  it('is refused beyond 1024 at once, and taken again when one is over', async () => {
    const { service, signals } = hanging();
    const { caller } = connect({ hang: service, ping: async () => 'pong' });
    const first = new AbortController();
    const open = Array.from({ length: 1024 }, (_, index) =>
      caller.call('hang', {}, index === 0 ? { signal: first.signal } : {}).catch(() => undefined),
    );
    await until(() => expect(signals).toHaveLength(1024));
    expect(await failure(caller.call('ping', {}))).toEqual({
      code: 'DRV_CHANNEL_CALL_FAILED',
      message: 'more than 1024 calls at once',
    });
    first.abort();
    await open[0];
    await until(async () => expect(await caller.call('ping', {})).toBe('pong'));
  });
});

describe('a stream', () => {
  it('gives every byte in order and ends', async () => {
    const { caller } = connect({
      count: async function* () {
        for (let index = 0; index < 100; index++) yield Buffer.from(`${index},`);
      },
    });
    const pieces: Buffer[] = [];
    for await (const bytes of caller.stream('count', {})) pieces.push(bytes);
    expect(Buffer.concat(pieces).toString()).toBe(`${Array.from({ length: 100 }, (_, i) => i).join()},`);
  });

  it('goes on beyond the window as the reader takes', async () => {
    const bytesInAll = 8 * WINDOW;
    const { caller } = connect({
      much: async function* () {
        for (let given = 0; given < bytesInAll; given += CHUNK) yield Buffer.alloc(CHUNK);
      },
    });
    let taken = 0;
    for await (const bytes of caller.stream('much', {})) taken += bytes.length;
    expect(taken).toBe(bytesInAll);
  });

  it('stops its sender within the window when nobody reads, while other calls go on', async () => {
    const { service, state } = endless();
    const { caller } = connect({ endless: service, ping: async () => 'pong' });
    const stream = caller.stream('endless', {});
    await stream.next();
    await turns(50);
    expect(state.given).toBeLessThanOrEqual(WINDOW + 2 * CHUNK);
    const before = state.given;
    expect(await caller.call('ping', {})).toBe('pong');
    await stream.next();
    await turns(50);
    // One piece was taken, so one more came.
    expect(state.given).toBe(before + CHUNK);
    await stream.return(undefined);
    await until(() => expect(state.isOver).toBe(true));
  });

  it('ends its source when the reader leaves, or is told to', async () => {
    const { service, state } = endless();
    const { caller } = connect({ endless: service });
    for await (const bytes of caller.stream('endless', {})) if (bytes.length > 0) break;
    await until(() => expect(state.isOver).toBe(true));

    const other = endless();
    const second = connect({ endless: other.service });
    const controller = new AbortController();
    const reading = failure(
      (async () => {
        for await (const _bytes of second.caller.stream('endless', {}, controller.signal)) controller.abort();
      })(),
    );
    expect(await reading).toMatchObject({ code: 'DRV_CHANNEL_CALL_FAILED' });
    await until(() => expect(other.state.isOver).toBe(true));
  });

  it('gives what had come, then fails, when its source breaks or the connection ends', async () => {
    const { caller, cut } = connect({
      broken: async function* () {
        yield Buffer.from('half');
        throw new DroverError('DRV_TEMPLATE_CORRUPT', 'the tree changed while it was read');
      },
      stuck: async function* (_parameters, { signal }) {
        yield Buffer.from('half');
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      },
    });
    const read = async (name: string, pieces: string[]): Promise<void> => {
      for await (const bytes of caller.stream(name, {})) pieces.push(bytes.toString());
    };
    const pieces: string[] = [];
    expect(await failure(read('broken', pieces))).toMatchObject({ code: 'DRV_TEMPLATE_CORRUPT' });
    const stuck = failure(read('stuck', pieces));
    await until(() => expect(pieces).toEqual(['half', 'half']));
    cut('gone');
    expect(await stuck).toMatchObject({ code: 'DRV_CHANNEL_CLOSED' });
  });

  it('is not taken for a value, nor a value for a stream', async () => {
    const { service, state } = endless();
    const { caller } = connect({ endless: service, ping: async () => 'pong' });
    expect(await failure(caller.call('endless', {}))).toMatchObject({
      message: 'endless answered with a stream',
    });
    await until(() => expect(state.isOver).toBe(true));
    expect(await failure(caller.stream('ping', {}).next())).toMatchObject({
      message: 'ping answered without a stream',
    });
  });
});
