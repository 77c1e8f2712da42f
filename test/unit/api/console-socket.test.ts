/** An open `/console`: the order of its commands, its bounds and its ends, over a socket that only records. */

import { describe, expect, it } from 'vitest';
import type { ApiDependencies } from '../../../src/api/dependencies.js';
import type { CommandRunner } from '../../../src/api/http/command-runner.js';
import { consoleSocket } from '../../../src/api/sockets/console-socket.js';
import type { ApiSocket } from '../../../src/api/sockets/socket.js';
import { testAccess } from '../../support/api/test-access.js';
import { given } from '../../support/control-plane/given.js';
import { until } from '../../support/until.js';

class FakeSocket implements ApiSocket {
  readonly access = testAccess('boss');
  readonly address = '10.0.0.9';
  readonly frames: string[] = [];
  bufferedBytes = 0;
  closed: string | undefined;
  readonly #closing = new AbortController();
  readonly #drains: (() => void)[] = [];
  #listener: (text: string) => void = () => undefined;

  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  sendText(text: string): void {
    this.frames.push(text);
  }

  sendBinary(): void {
    throw new Error('the console sends texts');
  }

  onBinary(): void {
    throw new Error('the console takes texts');
  }

  sendFrames(): void {
    throw new Error('the console sends texts');
  }

  whenDrained(): Promise<void> {
    if (this.bufferedBytes === 0) return Promise.resolve();
    return new Promise((resolve) => this.#drains.push(resolve));
  }

  drain(): void {
    this.bufferedBytes = 0;
    for (const resolve of this.#drains.splice(0)) resolve();
  }

  onText(listener: (text: string) => void): void {
    this.#listener = listener;
  }

  receive(text: string): void {
    this.#listener(text);
  }

  close(code: number, reason: string): void {
    this.closed ??= `${code} ${reason}`;
    this.#closing.abort();
    this.drain();
  }
}

/** Runs nothing before it is told to. */
class SlowRunner implements Pick<CommandRunner, 'run'> {
  readonly started: string[] = [];
  readonly #running: (() => void)[] = [];

  async run(line: string, session: Parameters<CommandRunner['run']>[1]): Promise<{ isOk: boolean }> {
    this.started.push(line);
    await new Promise<void>((resolve) => this.#running.push(resolve));
    if (line !== 'silent') session.write(`${line} by ${session.access?.name} from ${session.address}\n`);
    return { isOk: true };
  }

  async finishOne(): Promise<void> {
    await until(() => expect(this.#running).not.toEqual([]));
    this.#running.shift()?.();
  }
}

async function openConsole(commands: Pick<CommandRunner, 'run'>): Promise<FakeSocket> {
  const socket = new FakeSocket();
  const spec = consoleSocket(given<ApiDependencies>({ commands }));
  const run = await spec.open({ params: {}, query: {}, request: undefined as never });
  run(socket);
  return socket;
}

const echo: Pick<CommandRunner, 'run'> = {
  run: async (line, { write }) => {
    if (line !== 'silent') write(`did ${line}\n`);
    return { isOk: true };
  },
};

describe('a console', () => {
  it('runs the lines of a frame one after the other, and answers each', async () => {
    const socket = await openConsole(echo);
    socket.receive('one\r\n\n  two  \nsilent\nthree');
    await until(() => expect(socket.frames).toEqual(['did one', 'did two', '', 'did three']));
  });

  it('says who runs the command and from where', async () => {
    const runner = new SlowRunner();
    const socket = await openConsole(runner);
    socket.receive('one');
    await runner.finishOne();
    await until(() => expect(socket.frames).toEqual(['one by boss from 10.0.0.9']));
  });

  it('does not begin a line before the one before it has ended', async () => {
    const runner = new SlowRunner();
    const socket = await openConsole(runner);
    socket.receive('one');
    socket.receive('two');
    expect(runner.started).toEqual(['one']);
    await runner.finishOne();
    await until(() => expect(runner.started).toEqual(['one', 'two']));
    expect(socket.frames).toHaveLength(1);
  });

  it('does not begin a line before what was printed has been read', async () => {
    const socket = await openConsole(echo);
    socket.bufferedBytes = 300_000;
    socket.receive('one\ntwo');
    await until(() => expect(socket.frames).toEqual(['did one']));
    socket.drain();
    await until(() => expect(socket.frames).toEqual(['did one', 'did two']));
  });

  it('lets others run between lines that take long', async () => {
    const socket = await openConsole({
      run: async () => {
        for (const end = performance.now() + 11; performance.now() < end; );
        return { isOk: true };
      },
    });
    socket.receive('long\n'.repeat(5));
    await new Promise((resolve) => setImmediate(resolve));
    expect(socket.frames.length).toBeLessThan(5);
    await until(() => expect(socket.frames).toHaveLength(5));
  });

  it('keeps 100 lines waiting and refuses more in one clear line', async () => {
    const runner = new SlowRunner();
    const socket = await openConsole(runner);
    socket.receive('first');
    socket.receive('line\n'.repeat(150));
    expect(socket.frames).toEqual(['error: 50 commands refused: 100 are waiting already']);
    socket.receive('line');
    expect(socket.frames.at(-1)).toBe('error: 1 command refused: 100 are waiting already');
    for (let count = 0; count < 101; count++) await runner.finishOne();
    await until(() => expect(socket.frames).toHaveLength(103));
    expect(runner.started).toHaveLength(101);
    expect(socket.closed).toBeUndefined();
  });

  it('is closed when its client floods it and reads nothing', async () => {
    const runner = new SlowRunner();
    const socket = await openConsole(runner);
    socket.bufferedBytes = 2 * 1024 * 1024;
    socket.receive('line\n'.repeat(150));
    expect(socket.closed).toMatch(/^1008 sends commands and does not read/);
  });

  it.each(['exit', 'quit'])(
    'ends with 1000 on %s, after the lines before it and without those after it',
    async (word) => {
      const socket = await openConsole(echo);
      socket.receive(`one\n${word}\ntwo`);
      await until(() => expect(socket.closed).toBe('1000 bye'));
      expect(socket.frames).toEqual(['did one']);
    },
  );

  it('begins no further line once its socket has closed', async () => {
    const runner = new SlowRunner();
    const socket = await openConsole(runner);
    socket.receive('one\ntwo');
    socket.close(1001, 'going away');
    await runner.finishOne();
    await new Promise((resolve) => setImmediate(resolve));
    expect(runner.started).toEqual(['one']);
  });

  it('knows nothing of another console', async () => {
    const runner = new SlowRunner();
    const [a, b] = [await openConsole(runner), await openConsole(echo)];
    a?.receive('slow');
    b?.receive('quick');
    await until(() => expect(b?.frames).toEqual(['did quick']));
    expect(a?.frames).toEqual([]);
  });
});
