/** An owner that an earlier version of Drover started: it is served as ever, and what it does not know is said. */
import { createServer, type Server } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { encodeFrame, FrameReader } from '../../../src/runtime/owner/protocol.js';
import { resolveSocketPath } from '../../../src/runtime/socket-path.js';
import { ProcessWorld } from '../../support/runtime/process-world.js';

const RUN = { instanceId: 'aaaaaa', run: 1 };

let world: ProcessWorld;
let server: Server;
const requests: unknown[] = [];

beforeEach(async () => {
  world = new ProcessWorld();
  requests.length = 0;
  // As of version 0.1.0.
  server = createServer((socket) => {
    const frames = new FrameReader();
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      for (const { message } of frames.push(chunk)) {
        requests.push(message);
        const held = [{ ...RUN, pid: process.pid, startTime: 1, exit: null }];
        socket.write(encodeFrame({ type: 'welcome', protocol: 1, pid: process.pid, held }));
      }
    });
  });
  const path = resolveSocketPath(world.options.socketDirectory, 'owner.sock');
  await new Promise<void>((resolve) => server.listen(path, resolve));
});
afterEach(async () => {
  server.close();
  await world.close();
});

it('is not asked for a terminal, and the caller hears why', async () => {
  const runtime = world.runtime();
  expect(await runtime.adopt()).toMatchObject([{ ...RUN, exit: null }]);
  await expect(runtime.attach(RUN, { columns: 80, rows: 24 })).rejects.toMatchObject({
    code: 'DRV_INSTANCE_NOT_ATTACHABLE',
    message: expect.stringContaining('earlier version'),
  });
  expect(requests).toMatchObject([{ type: 'hello' }]);
  await runtime.release();
});
