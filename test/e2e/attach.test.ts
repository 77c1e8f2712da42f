/** Attached terminals of real instances, from a WebSocket down to the program. Needs `npm run build`. */
import { readFileSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import { SocketClient } from '../support/api/socket-client.js';
import type { DaemonWorld } from '../support/daemon/daemon.js';
import { shareDaemon } from '../support/daemon/shared-daemon.js';
import { hasTool } from '../support/runtime/process-world.js';
import { until } from '../support/until.js';

const ECHO = 'echo ready; while IFS= read -r line; do [ "$line" = end ] && exit 4; echo "got $line"; done';

let world: DaemonWorld;
const clients: SocketClient[] = [];
shareDaemon((shared) => {
  world = shared;
});
afterEach(() => {
  for (const client of clients.splice(0)) client.websocket.terminate();
});

async function open(id: string): Promise<SocketClient> {
  const url = `http://127.0.0.1:${world.apiPort}/api/instances/${id}/attach?columns=100&rows=30`;
  const token = readFileSync(world.paths.adminKey, 'utf8').trim();
  const client = await SocketClient.open(url, { token });
  clients.push(client);
  return client;
}

for (const runtime of ['process', 'screen', 'tmux'])
  it.skipIf(runtime !== 'process' && !hasTool(runtime))(
    `show an instance of ${runtime}, take what is typed, and end with the run`,
    async () => {
      world.configure('echo', { command: ECHO, runtime, minimumServiceCount: 1 });
      const [{ id } = { id: '' }] = await world.untilOnline('echo', 1);
      await world.untilLogged(id, /ready/);
      const [one, two] = [await open(id), await open(id)];
      const enter = runtime === 'process' ? '\n' : '\r';
      one.websocket.send(Buffer.from(`by hand${enter}`));
      for (const client of [one, two]) await until(() => expect(client.binary).toContain('got by hand'));
      await world.untilLogged(id, /got by hand/);
      await one.close();
      two.websocket.send(Buffer.from(`end${enter}`));
      expect(await two.closed).toEqual({ code: 1000, reason: `instance ${id} exited with code 4` });
      const trail = readFileSync(world.paths.auditLog, 'utf8');
      expect(trail.split(`"GET /instances/:id/attach"`).length).toBeGreaterThan(2);
    },
  );
