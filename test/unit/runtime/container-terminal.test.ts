/** An attached terminal of a container, without an engine. */
import { expect, it } from 'vitest';
import { ContainerTerminal } from '../../../src/runtime/docker/container-terminal.js';

it('detaches who types and never reads, when the refusals take too much memory', async () => {
  let isClosed = false;
  const terminal = new ContainerTerminal(
    Buffer.alloc(0),
    () => Promise.reject(new Error('x'.repeat(1000))),
    () => {
      isClosed = true;
    },
  );
  let written = 0;
  while (!isClosed && written < 10_000) {
    await terminal.write(Buffer.from('a'));
    written++;
  }
  expect(isClosed).toBe(true);
  const events = [];
  for await (const event of terminal.events()) events.push(event);
  expect(events.at(-1)).toMatchObject({ kind: 'ended', reason: 'too-slow' });
  expect(events.length).toBe(written + 1);
});
