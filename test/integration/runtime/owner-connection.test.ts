/** Connecting to an owner that is about to be gone. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readProcess } from '../../../src/files/processes.js';
import { SystemClock } from '../../../src/loop/system-clock.js';
import { OwnerConnection } from '../../../src/runtime/owner/owner-connection.js';
import { quietLogger } from '../../support/templates/template-trees.js';

/** Listens, and takes no connection: it is stopped as soon as it has said that it listens. */
const LISTENER = `
  require('node:net').createServer().listen(process.argv[1], () => process.stdout.write('listens'));
`;

let directory: string;
let owner: ChildProcess;
let pid: number;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'drover-link-'));
  owner = spawn(process.execPath, ['-e', LISTENER, join(directory, 'owner.sock')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  pid = owner.pid ?? Number.NaN;
  if (owner.stdout !== null) await once(owner.stdout, 'data');
});
afterEach(async () => {
  const ended = owner.exitCode === null && owner.signalCode === null ? once(owner, 'exit') : undefined;
  owner.kill('SIGKILL');
  await ended;
  rmSync(directory, { recursive: true });
});

function find(): Promise<boolean> {
  const connection = new OwnerConnection({
    socketPath: join(directory, 'owner.sock'),
    socketDirectory: directory,
    rootId: 'root',
    lockKey: basename(directory),
    kind: { name: 'owner', title: 'the owner', program: '', parameters: [], startTimeoutMs: 1000 },
    clock: new SystemClock(),
    logger: quietLogger,
    onExit: () => undefined,
    onConnected: () => undefined,
  });
  return connection.find();
}

/** In this very turn of the event loop: the reset is there before the connection is known to stand. */
function endNow(): void {
  process.kill(pid, 'SIGKILL');
  // Its threads share the socket, which is closed with the last of them.
  while (readProcess(pid)?.isZombie === false || readdirSync(`/proc/${pid}/task`).length > 1);
}

it('that ends before it takes the connection has hung up, which is no failure', async () => {
  process.kill(pid, 'SIGSTOP');
  const found = find();
  endNow();
  expect(await found).toBe(false);
});

it('that ended before is not there', async () => {
  process.kill(pid, 'SIGKILL');
  await once(owner, 'exit');
  expect(await find()).toBe(false);
});
