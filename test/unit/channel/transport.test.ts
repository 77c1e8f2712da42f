/** The in-process transport: a pipe of frames that checks each frame, as the network's transport does. */
import { describe, expect, it } from 'vitest';
import type { Frame } from '../../../src/channel/protocol/messages.js';
import { createInProcessPair, type Transport } from '../../../src/channel/protocol/transport.js';
import { until } from '../../support/until.js';

function listen(transport: Transport): { frames: Frame[]; closed: string[] } {
  const frames: Frame[] = [];
  const closed: string[] = [];
  transport.onFrame((frame) => frames.push(frame));
  transport.onClose((reason) => closed.push(reason));
  return { frames, closed };
}

describe('the in-process transport', () => {
  it('delivers in order, bytes included, and never inside the call to send', async () => {
    const [mine, its] = createInProcessPair();
    const { frames } = listen(its);
    for (let id = 1; id <= 5; id++) mine.send({ type: 'chunk', id }, Buffer.from([id]));
    expect(frames).toEqual([]);
    await until(() => expect(frames).toHaveLength(5));
    expect(frames.map(({ message, body }) => [message, body?.[0]])).toEqual(
      [1, 2, 3, 4, 5].map((id) => [{ type: 'chunk', id }, id]),
    );
  });

  it('keeps what came before anybody listened', async () => {
    const [mine, its] = createInProcessPair();
    mine.send({ type: 'beat' });
    await Promise.resolve();
    const { frames } = listen(its);
    mine.send({ type: 'bye' });
    await until(() => expect(frames.map(({ message }) => message.type)).toEqual(['beat', 'bye']));
  });

  it('delivers what a listener sends back, after what was there already', async () => {
    const [mine, its] = createInProcessPair();
    const { frames } = listen(mine);
    its.onFrame(({ message }) => {
      if (message.type === 'status') its.send({ type: 'status-acknowledged', sequence: message.sequence });
    });
    mine.send({ type: 'status', sequence: 1, reports: [] });
    mine.send({ type: 'status', sequence: 2, reports: [] });
    await until(() =>
      expect(frames.map(({ message }) => message)).toEqual([
        { type: 'status-acknowledged', sequence: 1 },
        { type: 'status-acknowledged', sequence: 2 },
      ]),
    );
  });

  it('shares no memory between its ends', async () => {
    const [mine, its] = createInProcessPair();
    const { frames } = listen(its);
    const parameters = { list: [1] };
    mine.send({ type: 'call', id: 1, service: 's', parameters });
    parameters.list.push(2);
    await until(() => expect(frames).toHaveLength(1));
    expect(frames[0]?.message).toMatchObject({ parameters: { list: [1] } });
  });

  it('closes both ends on a malformed message, delivering what came before it and nothing after', async () => {
    const [mine, its] = createInProcessPair();
    const sender = listen(mine);
    const receiver = listen(its);
    mine.send({ type: 'beat' });
    mine.send({ type: 'delta', sequence: 1.5, put: [], drop: ['../../etc'], revisions: {}, store: 1 });
    mine.send({ type: 'bye' });
    await until(() => expect(sender.closed).toHaveLength(1));
    expect(receiver.frames.map(({ message }) => message.type)).toEqual(['beat']);
    expect(receiver.closed).toEqual([expect.stringMatching(/^malformed message: /)]);
    expect(sender.closed).toEqual(receiver.closed);
    expect([mine.isOpen, its.isOpen]).toEqual([false, false]);
  });

  it('delivers what was sent before a close, drops what is sent after it, and says so once', async () => {
    const [mine, its] = createInProcessPair();
    const sender = listen(mine);
    const receiver = listen(its);
    mine.send({ type: 'bye' });
    mine.close('enough');
    mine.send({ type: 'beat' });
    mine.close('again');
    expect(mine.isOpen).toBe(false);
    await until(() => expect(receiver.closed).toEqual(['enough']));
    expect(receiver.frames.map(({ message }) => message.type)).toEqual(['bye']);
    expect(sender.closed).toEqual(['enough']);
    expect(its.isOpen).toBe(false);
  });

  it('tells a listener that comes too late', () => {
    const [mine] = createInProcessPair();
    mine.close('over');
    expect(listen(mine).closed).toEqual(['over']);
  });
});
