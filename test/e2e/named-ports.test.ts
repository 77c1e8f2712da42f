/** Two real servers with a game, a query (UDP) and a control port each, as a built daemon runs them. Needs `npm run build`. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import type { DaemonWorld } from '../support/daemon/daemon.js';
import { shareDaemon } from '../support/daemon/shared-daemon.js';
import { freePorts } from '../support/free-ports.js';

let world: DaemonWorld;
shareDaemon((shared) => {
  world = shared;
});

const SERVER = `
const [,, game, query, rcon] = process.argv;
const udp = require('node:dgram').createSocket('udp4');
udp.on('message', (text, from) => udp.send('query ' + process.env.DROVER_PORT_QUERY + ' of ' + process.env.DROVER_INSTANCE_ID, from.port, from.address));
udp.bind(Number(query), '127.0.0.1', () => {
  for (const port of [game, rcon])
    require('node:net').createServer((socket) => socket.end()).listen(Number(port), '127.0.0.1');
});
`;

async function ask(port: number): Promise<string> {
  const socket = createSocket('udp4');
  try {
    socket.send('?', port, '127.0.0.1');
    const [answer] = await once(socket, 'message', { signal: AbortSignal.timeout(10_000) });
    return String(answer);
  } finally {
    socket.close();
  }
}

it('gives each server ports of its own, which are in its command, its environment and every answer', async () => {
  const first = await freePorts(8);
  world.configure('arena', {
    command: `exec ${process.execPath} -e "eval(process.env.SERVER)" x %PORT% %PORT_QUERY% %PORT_RCON%`,
    environmentVariables: { SERVER },
    minimumServiceCount: 2,
    availablePorts: { min: first, max: first + 3 },
    ports: {
      query: { next: 1, protocol: 'udp' },
      rcon: { min: first + 4, max: first + 7, protocol: 'tcp' },
    },
    readiness: { tcpPort: '%PORT_RCON%' },
  });
  const instances = await world.untilOnline('arena', 2);
  const seen = new Set<number>();
  for (const { id, allocatedPort = 0, ...more } of instances) {
    const { ports = '' } = more as { readonly ports?: string };
    expect(ports).toMatch(new RegExp(`^query=${allocatedPort + 1}/udp rcon=\\d+/tcp$`));
    expect(await ask(allocatedPort + 1)).toBe(`query ${allocatedPort + 1} of ${id}`);
    const [, rcon] = /rcon=(\d+)/.exec(ports) ?? [];
    const { text } = await world.api.send('GET', `/instances/${id}/details`);
    expect(JSON.parse(text).namedPorts).toEqual([
      { name: 'query', port: allocatedPort + 1, protocol: 'udp' },
      { name: 'rcon', port: Number(rcon), protocol: 'tcp' },
    ]);
    for (const port of [allocatedPort, allocatedPort + 1, Number(rcon)]) seen.add(port);
  }
  expect(seen.size).toBe(6);
});
