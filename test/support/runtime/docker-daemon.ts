/**
 * A program for `docker-runtime.test.ts` that plays a daemon to be killed. It takes up the containers of a root, prints
 * `adopted`, and copies their logs until it is killed. Usage: node docker-daemon.js ROOT-ID ROOT SOCKET
 */
import { join } from 'node:path';
import { pino } from 'pino';
import { SystemClock } from '../../../src/loop/system-clock.js';
import { DockerRuntime } from '../../../src/runtime/docker/docker-runtime.js';

const [rootId, root, socketPath] = process.argv.slice(2);
if (rootId === undefined || root === undefined || socketPath === undefined)
  throw new Error('usage: node docker-daemon.js ROOT-ID ROOT SOCKET');

const runtime = new DockerRuntime({
  rootId,
  stateDirectory: join(root, 'docker'),
  logsDirectory: join(root, 'logs'),
  limits: { segmentBytes: 8 * 1024 * 1024, segments: 4 },
  environment: { DOCKER_HOST: `unix://${socketPath}` },
  random: () => 0,
  clock: new SystemClock(),
  logger: pino({ enabled: false }),
});
await runtime.adopt();
process.stdout.write('adopted\n');
