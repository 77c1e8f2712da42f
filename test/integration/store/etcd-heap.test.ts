/** The client of etcd keeps to what node:http2 can take. Needs `npm run build` for the program with the client. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, expect, it } from 'vitest';
import { REPOSITORY } from '../../support/repository-root.js';

const PROGRAM = join(REPOSITORY, 'build/test/support/etcd/abandoning-client.js');
/** Two watches and a call. */
const STREAMS = 3;
/** Without its cache, glibc compares what lies around freed memory at once, and ends the process. */
const WATCHFUL = { GLIBC_TUNABLES: 'glibc.malloc.tcache_count=0' };

let server: Http2Server | undefined;
afterEach(() => {
  server?.close();
});

/** A member that has lost its leader: it refuses all that a client asks of it in one piece. */
async function startLeaderless(): Promise<string> {
  const leaderless = createServer();
  server = leaderless;
  leaderless.on('session', (session) => {
    const held: ServerHttp2Stream[] = [];
    session.on('error', () => undefined);
    session.on('stream', (stream) => {
      stream.on('error', () => undefined);
      held.push(stream);
      if (held.length === STREAMS) for (const each of held) refuse(each);
    });
  });
  leaderless.listen(0, '127.0.0.1');
  await once(leaderless, 'listening');
  return `http://127.0.0.1:${(leaderless.address() as AddressInfo).port}`;
}

function refuse(stream: ServerHttp2Stream): void {
  stream.respond(
    { ':status': 200, 'grpc-status': '14', 'grpc-message': 'etcdserver: no leader' },
    { endStream: true },
  );
}

it('leaves the memory of node:http2 whole when an answer makes it abandon its streams', async () => {
  const child = spawn(process.execPath, [PROGRAM, await startLeaderless()], {
    env: { ...process.env, ...WATCHFUL },
  });
  const [said, complaint] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  expect({ signal: child.signalCode, said }, complaint).toEqual({ signal: null, said: '30 rounds\n' });
});
