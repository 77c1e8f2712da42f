/** Attached terminals over the channel: what passes, what an earlier node answers, and how both ends end them. */
import { expect, it } from 'vitest';
import { CallPeer, type Services } from '../../../src/channel/protocol/calls.js';
import { createInProcessPair, type Transport } from '../../../src/channel/protocol/transport.js';
import { InstanceTerminals, terminalServices } from '../../../src/channel/services/instance-terminals.js';
import { DroverError } from '../../../src/model/errors.js';
import type { AttachEvent, Attachment } from '../../../src/model/run/attachment.js';
import { instanceRecord } from '../../support/api/api-world.js';
import { until } from '../../support/until.js';

const PIECE = 64 * 1024;
const SIZE = { columns: 80, rows: 24 };
const record = instanceRecord({ id: 'aaaaaa' });

function connect(services: Services): {
  terminals: InstanceTerminals;
  cut: () => void;
} {
  const [mine, its] = createInProcessPair();
  const peer = (transport: Transport, served: Services): CallPeer => {
    const calls = new CallPeer(transport, served);
    transport.onFrame((frame) => calls.handle(frame));
    transport.onClose((reason) => calls.close(reason));
    return calls;
  };
  peer(its, services);
  const calls = peer(mine, {});
  return { terminals: new InstanceTerminals(() => calls), cut: () => its.close('cut') };
}

/** Says what is typed, and gives output for ever once `flood` is typed. */
class Echo implements Attachment {
  readonly isTransparent = false;
  given = 0;
  isClosed = false;
  readonly sizes: string[] = [];
  readonly #typed: Buffer[] = [];
  #wake: (() => void) | undefined;

  async *events(): AsyncGenerator<AttachEvent> {
    while (!this.isClosed) {
      const bytes = this.#typed.shift();
      if (bytes?.toString() === 'end') {
        yield { kind: 'ended', reason: 'exited', message: 'bye' };
        return;
      }
      if (bytes?.toString() === 'flood')
        while (!this.isClosed) {
          this.given += PIECE;
          yield { kind: 'output', bytes: Buffer.alloc(PIECE) };
        }
      if (bytes !== undefined) yield { kind: 'output', bytes };
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }

  async write(bytes: Buffer): Promise<void> {
    this.#typed.push(bytes);
    this.#wake?.();
  }

  resize({ columns, rows }: { columns: number; rows: number }): void {
    this.sizes.push(`${columns}x${rows}`);
  }

  close(): void {
    this.isClosed = true;
    this.#wake?.();
  }
}

const signal = (): AbortSignal => new AbortController().signal;

it('pass what is typed, what comes and the last word', async () => {
  const echo = new Echo();
  const { terminals } = connect(terminalServices(async () => echo));
  const attached = await terminals.attach(record, SIZE, signal());
  expect(attached.isTransparent).toBe(false);
  const events = attached.events();
  await attached.write(Buffer.from([0, 255, 3]));
  expect((await events.next()).value).toEqual({ kind: 'output', bytes: Buffer.from([0, 255, 3]) });
  attached.resize({ columns: 9, rows: 8 });
  await until(() => expect(echo.sizes).toEqual(['9x8']));
  await attached.write(Buffer.from('end'));
  expect((await events.next()).value).toEqual({ kind: 'ended', reason: 'exited', message: 'bye' });
  await until(() => expect(echo.isClosed).toBe(true));
});

it('of a reader that stands still stop at the window, and input goes on', async () => {
  const echo = new Echo();
  const { terminals } = connect(terminalServices(async () => echo));
  const attached = await terminals.attach(record, SIZE, signal());
  await attached.write(Buffer.from('flood'));
  attached.resize({ columns: 1, rows: 1 });
  await until(() => expect(echo.sizes).toEqual(['1x1']));
  expect(echo.given).toBeLessThanOrEqual(512 * 1024 + 2 * PIECE);
  attached.close();
  await until(() => expect(echo.isClosed).toBe(true));
});

it('of many sizes in a row pass the first and the last', async () => {
  const echo = new Echo();
  const { terminals } = connect(terminalServices(async () => echo));
  const attached = await terminals.attach(record, SIZE, signal());
  for (let columns = 1; columns <= 1000; columns++) attached.resize({ columns, rows: 1 });
  await until(() => expect(echo.sizes).toEqual(['1x1', '1000x1']));
  attached.resize({ columns: 2, rows: 2 });
  await until(() => expect(echo.sizes).toEqual(['1x1', '1000x1', '2x2']));
  attached.close();
});

it('say that input did not arrive when its call fails, and go on', async () => {
  const echo = new Echo();
  const services = terminalServices(async () => echo);
  let isFailing = true;
  const { terminals } = connect({
    ...services,
    'attach-input': async (parameters, request) => {
      if (isFailing) throw new DroverError('DRV_CHANNEL_CALL_FAILED', 'too busy');
      await services['attach-input']?.(parameters, request);
    },
  });
  const attached = await terminals.attach(record, SIZE, signal());
  const events = attached.events();
  const first = events.next();
  await attached.write(Buffer.from('lost'));
  expect((await first).value).toEqual({
    kind: 'refused',
    message: 'what was typed may not have arrived: too busy',
  });
  isFailing = false;
  await attached.write(Buffer.from('kept'));
  expect((await events.next()).value).toEqual({ kind: 'output', bytes: Buffer.from('kept') });
  attached.close();
});

it('end as lost with the connection, and are detached on the node', async () => {
  const echo = new Echo();
  const { terminals, cut } = connect(terminalServices(async () => echo));
  const events = (await terminals.attach(record, SIZE, signal())).events();
  cut();
  expect((await events.next()).value).toMatchObject({ kind: 'ended', reason: 'lost' });
  await until(() => expect(echo.isClosed).toBe(true));
});

it('are detached when their reader goes while the node still attaches', async () => {
  const echo = new Echo();
  let attach = (): void => undefined;
  const attaching = new Promise<void>((resolve) => {
    attach = resolve;
  });
  const { terminals } = connect(
    terminalServices(async () => {
      await attaching;
      return echo;
    }),
  );
  const gone = new AbortController();
  const attached = terminals.attach(record, SIZE, gone.signal);
  gone.abort();
  await expect(attached).rejects.toMatchObject({ code: 'DRV_CHANNEL_CALL_FAILED' });
  attach();
  await until(() => expect(echo.isClosed).toBe(true));
});

it('are refused with the words of the runtime', async () => {
  const refusing = connect(
    terminalServices(async () => {
      throw new DroverError('DRV_INSTANCE_NOT_ATTACHABLE', 'its runtime docker shows no terminals');
    }),
  );
  await expect(refusing.terminals.attach(record, SIZE, signal())).rejects.toMatchObject({
    code: 'DRV_INSTANCE_NOT_ATTACHABLE',
    message: 'its runtime docker shows no terminals',
  });
});
