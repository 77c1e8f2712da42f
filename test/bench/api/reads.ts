/** GET of one instance and of all, beside bare Fastify routes that send as much. */
import { type ChildProcess, fork } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Row } from '../table.js';
import { type BenchDaemon, freePort, until } from '../world.js';
import { Changes } from './changes.js';
import { compare, rateRow } from './load.js';

const CONNECTIONS_TO_ONE = 50;
const CONNECTIONS_TO_ALL = 4;
const CHANGES = 200;

export async function readRows(daemon: BenchDaemon): Promise<Row[]> {
  const instances = await daemon.instances();
  const headers = { authorization: `Bearer ${daemon.token}` };
  const bare = await BareServer.start(join(daemon.root, 'list.json'), JSON.stringify(instances));
  try {
    const one = await compare(
      { url: `${daemon.url}/instances/${instances[0]?.id}`, headers, connections: CONNECTIONS_TO_ONE },
      { url: `${bare.url}/hello`, connections: CONNECTIONS_TO_ONE },
    );
    const all = { url: `${daemon.url}/instances`, headers, connections: CONNECTIONS_TO_ALL };
    const same = { url: `${bare.url}/list`, connections: CONNECTIONS_TO_ALL };
    const atRest = await compare(all, same);
    const changes = new Changes(
      daemon,
      instances.map(({ id }) => id),
      CHANGES,
    );
    const changing = await compare(all, same);
    await changes.stop();
    const count = instances.length;
    return [
      rateRow('GET /instances/{id}, authenticated, 50 connections, requests/s', one, {
        name: 'bare Fastify hello',
        atLeast: 0.9,
      }),
      rateRow(`GET /instances with ${count} instances, requests/s`, atRest, {
        name: 'bare Fastify route, same bytes',
        atLeast: 0.8,
      }),
      rateRow(`GET /instances with ${count} of which ${CHANGES} change a second, requests/s`, changing, {
        name: 'bare Fastify route, same bytes that never change',
        atLeast: 0.8,
      }),
    ];
  } finally {
    bare.stop();
  }
}

class BareServer {
  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(url: string, child: ChildProcess) {
    this.url = url;
    this.#child = child;
  }

  static async start(file: string, list: string): Promise<BareServer> {
    await writeFile(file, list);
    const port = await freePort();
    const child = fork(fileURLToPath(new URL('./bare-server.js', import.meta.url)), [String(port), file]);
    const url = `http://127.0.0.1:${port}`;
    await until(async () => (await fetch(`${url}/hello`)).ok);
    return new BareServer(url, child);
  }

  stop(): void {
    this.#child.kill();
  }
}
