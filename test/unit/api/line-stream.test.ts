/** An answer of lines knows how much waits for its reader. */
import { once } from 'node:events';
import { get } from 'node:http';
import { fastify } from 'fastify';
import { afterEach, expect, it } from 'vitest';
import { LineStream } from '../../../src/api/sockets/line-stream.js';

const MIB = 1024 * 1024;
const server = fastify();
afterEach(async () => {
  server.server.closeAllConnections();
  await server.close();
});

it('counts each byte that waits once', async () => {
  const opened = new Promise<LineStream>((resolve) => {
    server.get('/', (request, reply) => {
      const stream = new LineStream(reply, 'text/plain');
      // Nothing reaches the kernel any more, so all that is written waits.
      request.raw.socket.cork();
      resolve(stream);
    });
  });
  const url = await server.listen({ host: '127.0.0.1', port: 0 });
  const request = get(url);
  const stream = await opened;
  const [response] = await once(request, 'response');
  response.on('error', () => undefined);
  stream.write(Buffer.alloc(MIB));
  expect(stream.bufferedBytes).toBeGreaterThanOrEqual(MIB);
  expect(stream.bufferedBytes).toBeLessThan(MIB + 1024);
});
