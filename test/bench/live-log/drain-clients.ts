/** Clients that read and throw away: `<port> <how many>`; they speak just enough to be let in. Says `open` when all are. */
import { once } from 'node:events';
import { connect } from 'node:net';

const [port, count] = process.argv.slice(2);
const HANDSHAKE = [
  'GET / HTTP/1.1',
  'Host: localhost',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
];

await Promise.all(
  Array.from({ length: Number(count) }, async () => {
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(`${HANDSHAKE.join('\r\n')}\r\n\r\n`);
    await once(socket, 'data');
    socket.resume();
  }),
);
process.send?.('open');
