/**
 * A program for `owner.test.ts` that plays a daemon to be killed. It starts one instance in the process runtime, prints
 * its identity as a line of JSON, and waits. Usage: node process-daemon.js ROOT-ID ROOT INSTANCE-ID COMMAND
 */
import { join } from 'node:path';
import { pino } from 'pino';
import { SystemClock } from '../../../src/loop/system-clock.js';
import { processRuntime } from '../../../src/runtime/process/process-runtime.js';
import { REPOSITORY } from '../repository-root.js';

const [rootId, root, instanceId, command] = process.argv.slice(2);
if (rootId === undefined || root === undefined || instanceId === undefined || command === undefined)
  throw new Error('usage: node process-daemon.js ROOT-ID ROOT INSTANCE-ID COMMAND');

const runtime = processRuntime({
  rootId,
  socketDirectory: join(root, 'sockets'),
  lockKey: rootId,
  logsDirectory: join(root, 'logs'),
  segmentBytes: 8 * 1024 * 1024,
  segments: 4,
  ownerProgram: join(REPOSITORY, 'dist/owner-main.js'),
  logger: pino({ enabled: false }),
  clock: new SystemClock(),
});
const identity = await runtime.start({
  instanceId,
  run: 1,
  command,
  workingDirectory: root,
  environment: { PATH: '/usr/bin:/bin' },
  ramMB: 16,
  cpu: 10,
});
process.stdout.write(`${JSON.stringify(identity)}\n`);
// The connection to the owner keeps this process alive until it is killed.
