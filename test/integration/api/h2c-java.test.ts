/** The API under Java's own HTTP client, which offers h2c with every plain request. Skipped without a JDK. */

import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiWorld, instanceRecord } from '../../support/api/api-world.js';
import { REPOSITORY } from '../../support/repository-root.js';

const CLIENT = join(REPOSITORY, 'test/support/api/java/Client.java');
const hasJdk = spawnSync('javac', ['-version']).status === 0;

let world: ApiWorld;

beforeEach(async () => {
  world = await new ApiWorld().start();
  await world.server.start();
  await world.addConfiguration('hello');
  await world.putInstance(instanceRecord({ id: 'aaaaaa' }));
});
afterEach(() => world.stop());

describe.skipIf(!hasJdk)("Java's HTTP client", () => {
  it('is served: every method, bodies of every kind, hundreds of requests, WebSockets', async () => {
    const run = await promisify(execFile)('java', ['-Xmx64m', CLIENT, world.url, world.admin], {
      timeout: 280_000,
    });
    expect(run.stdout.trim().split('\n')).toEqual([
      'GET /instances 200 HTTP_1_1',
      'POST /instances/aaaaaa/execute 200 HTTP_1_1',
      'POST /instances/aaaaaa/execute 200 HTTP_1_1',
      'PUT /instances/aaaaaa/state 200 HTTP_1_1',
      'POST /instances/aaaaaa/stop 200 HTTP_1_1',
      'PATCH /instances/aaaaaa/lifecycle?target=start 200 HTTP_1_1',
      'DELETE /configurations/hello 204 HTTP_1_1',
      'GET /nothing 404 HTTP_1_1',
      'expect 200',
      'many 300',
      'parallel 100',
      'websocket would run: help',
    ]);
    expect(world.stdin).toHaveLength(2 + 1 + 150 + 100);
    expect(new Set(world.stdin.map(({ bytes }) => bytes.toString()))).toEqual(new Set(['say java\n']));
  });
});
