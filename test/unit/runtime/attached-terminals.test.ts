/** Attached terminals in an owner: a real connection, a run without a process. */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { AttachedTerminals } from '../../../src/runtime/owner/attached-terminals.js';
import { DaemonConnection } from '../../../src/runtime/owner/daemon-connection.js';
import type { HeldRun } from '../../../src/runtime/owner/held-run.js';

let server: Server;
let client: Socket;
let connection: DaemonConnection;

beforeEach(async () => {
  server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const accepted = once(server, 'connection');
  client = connect(address.port, '127.0.0.1').pause();
  const [socket] = await accepted;
  connection = new DaemonConnection(
    socket,
    () => undefined,
    () => undefined,
  );
});

afterEach(() => {
  client.destroy();
  server.close();
});

it('detaches who types and never reads, when too many refusals wait', async () => {
  let isClosed = false;
  const run: HeldRun = {
    instanceId: 'abcdef',
    run: 1,
    exit: null,
    held: { instanceId: 'abcdef', run: 1, pid: 1, startTime: 1, exit: null },
    write: () => false,
    attach: () => ({
      isTransparent: true,
      write: () => false,
      resize: () => undefined,
      close: () => {
        isClosed = true;
      },
    }),
    close: () => undefined,
    forget: () => undefined,
  };
  const terminals = new AttachedTerminals();
  await terminals.attach(connection, run, { columns: 80, rows: 24 });

  for (let round = 0; round < 1000 && !isClosed; round++) {
    for (let typed = 0; typed < 200; typed++) terminals.write(connection, Buffer.from('a'));
    await new Promise((resolve) => setImmediate(resolve));
  }

  expect(isClosed).toBe(true);
});
