/** Attached terminals at the API: their frames, refusals, bounds and ends, over a terminal that the test holds. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DroverError } from '../../../src/model/errors.js';
import type { AttachEvent, Attachment, TerminalSize } from '../../../src/model/run/attachment.js';
import { ApiWorld, instanceRecord } from '../../support/api/api-world.js';
import { SocketClient } from '../../support/api/socket-client.js';
import { until } from '../../support/until.js';

/** A terminal whose output the test gives, and which remembers its input. */
class FakeTerminal implements Attachment {
  readonly isTransparent = true;
  readonly typed: string[] = [];
  readonly sizes: TerminalSize[] = [];
  isClosed = false;
  /** Input is taken when this has resolved. */
  taking: Promise<void> = Promise.resolve();
  readonly #events: AttachEvent[] = [];
  #wake: (() => void) | undefined;

  give(event: AttachEvent): void {
    this.#events.push(event);
    this.#wake?.();
  }

  async *events(): AsyncGenerator<AttachEvent> {
    for (;;) {
      const event = this.#events.shift();
      if (event !== undefined) yield event;
      else if (this.isClosed) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      if (event?.kind === 'ended') return;
    }
  }

  async write(bytes: Buffer): Promise<void> {
    this.typed.push(bytes.toString('latin1'));
    await this.taking;
  }

  resize(size: TerminalSize): void {
    this.sizes.push(size);
  }

  close(): void {
    this.isClosed = true;
    this.#wake?.();
  }
}

let world: ApiWorld;
let terminal: FakeTerminal;
let attachedAt: TerminalSize | undefined;
const clients: SocketClient[] = [];

beforeEach(async () => {
  world = await new ApiWorld().start();
  await world.server.start();
  await world.putInstance(instanceRecord({ id: 'aaaaaa' }));
  terminal = new FakeTerminal();
  world.attach = async (_record, { columns, rows }) => {
    attachedAt = { columns, rows };
    return terminal;
  };
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.websocket.terminate();
  await world.stop();
});

async function open(query = '', token = world.admin): Promise<SocketClient> {
  const client = await SocketClient.open(`${world.url}/instances/aaaaaa/attach${query}`, { token });
  clients.push(client);
  return client;
}
const messages = ({ texts }: SocketClient): unknown[] =>
  texts.filter((text) => text !== '<binary>').map((text) => JSON.parse(text));
const audited = (): string[] =>
  world.audit.entries.map(({ key, action, subject, result }) => [key, action, subject, result].join(' | '));

describe('an attached terminal', () => {
  it('passes output, input and sizes, and stands in the audit trail', async () => {
    const client = await open('?columns=132&rows=43');
    await until(() => expect(messages(client)).toEqual([{ type: 'attached', isTransparent: true }]));
    expect(attachedAt).toEqual({ columns: 132, rows: 43 });
    terminal.give({ kind: 'output', bytes: Buffer.from('\x1b[1mhello') });
    await until(() => expect(client.binary).toBe('\x1b[1mhello'));
    client.websocket.send(Buffer.from('\x03ls\n'));
    client.send(JSON.stringify({ type: 'resize', columns: 90, rows: 20 }));
    await until(() => expect(terminal.sizes).toEqual([{ columns: 90, rows: 20 }]));
    expect(terminal.typed).toEqual(['\x03ls\n']);
    expect(audited()).toEqual(['boss | GET /instances/:id/attach | aaaaaa | 101']);
  });

  it('says what was not taken, and why it ended', async () => {
    const client = await open();
    terminal.give({ kind: 'refused', message: 'full' });
    terminal.give({ kind: 'ended', reason: 'too-slow', message: 'too slow' });
    expect(await client.closed).toEqual({ code: 1013, reason: 'too slow' });
    expect(messages(client).slice(1)).toEqual([
      { type: 'refused', message: 'full' },
      { type: 'ended', reason: 'too-slow', message: 'too slow' },
    ]);
  });

  it('does not read a client that types faster than it is taken', async () => {
    let take = (): void => undefined;
    terminal.taking = new Promise((resolve) => {
      take = resolve;
    });
    const client = await open();
    for (let index = 0; index < 200; index++) client.websocket.send(Buffer.alloc(64 * 1024, 'x'));
    await until(() => expect(terminal.typed.length).toBeGreaterThan(0));
    await until(() => expect(client.websocket.bufferedAmount).toBeGreaterThan(1024 * 1024));
    expect(terminal.typed.length).toBeLessThan(10);
    take();
    await until(() => expect(terminal.typed).toHaveLength(200));
  });

  it('is asked for no more output while its client does not read', async () => {
    const client = await open();
    client.connection.pause();
    const given = 400;
    for (let index = 0; index < given; index++)
      terminal.give({ kind: 'output', bytes: Buffer.alloc(64 * 1024, 'y') });
    terminal.give({ kind: 'ended', reason: 'exited', message: 'bye' });
    client.connection.resume();
    expect(await client.closed).toEqual({ code: 1000, reason: 'bye' });
    expect(client.binary).toHaveLength(given * 64 * 1024);
  });

  it('is detached when the client goes, and when the key ends', async () => {
    const client = await open();
    await client.close();
    await until(() => expect(terminal.isClosed).toBe(true));
    terminal = new FakeTerminal();
    const token = await world.addKey('tool', 'OPERATE');
    const other = await open('', token);
    await world.keyWrites.remove('tool');
    expect((await other.closed).code).toBe(1008);
    await until(() => expect(terminal.isClosed).toBe(true));
  });

  it('closes with 1008 for a frame that means nothing', async () => {
    for (const frame of ['hello', '{"type":"resize","columns":0,"rows":1}']) {
      const client = await open();
      client.send(frame);
      expect((await client.closed).code).toBe(1008);
    }
  });

  it('is refused before the upgrade, with a line in the audit trail', async () => {
    const refusal = (query = '', token = world.admin, id = 'aaaaaa') =>
      SocketClient.refusal(`${world.url}/instances/${id}/attach${query}`, { token });
    world.attach = async () => {
      throw new DroverError('DRV_INSTANCE_NOT_ATTACHABLE', 'its runtime shows no terminals');
    };
    expect(await refusal()).toMatchObject({
      status: 409,
      body: JSON.stringify({ error: 'its runtime shows no terminals', code: 'DRV_INSTANCE_NOT_ATTACHABLE' }),
    });
    expect(audited()).toEqual(['boss | GET /instances/:id/attach | aaaaaa | 409']);
    expect((await refusal('?columns=1001')).status).toBe(400);
    expect((await refusal('', world.admin, 'zzzzzz')).status).toBe(404);
    expect((await refusal('', await world.addKey('reader', 'READ'))).status).toBe(403);
  });
});
