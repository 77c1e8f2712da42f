/** The baseline of the API benchmark: Fastify with two routes and nothing else. Arguments: port, file to send. */
import { readFileSync } from 'node:fs';
import { fastify } from 'fastify';

const [port, file] = process.argv.slice(2);
const bytes = readFileSync(file ?? '');
const server = fastify();
server.get('/hello', async () => ({ hello: 'world' }));
server.get('/list', (_request, reply) => reply.type('application/json; charset=utf-8').send(bytes));
await server.listen({ host: '127.0.0.1', port: Number(port) });
process.on('disconnect', () => process.exit(0));
