/** Real servers behind one port (`SO_REUSEPORT`), through a rollout, as a built daemon runs them. Needs `npm run build`. */
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import type { ConfigurationInput } from '../../src/model/configuration.js';
import type { DaemonWorld } from '../support/daemon/daemon.js';
import { shareDaemon } from '../support/daemon/shared-daemon.js';
import { freePorts } from '../support/free-ports.js';
import { until } from '../support/until.js';

const COUNT = 4;

let world: DaemonWorld;
shareDaemon((shared) => {
  world = shared;
});

/** Waits until its gate can be read, listens, and answers with its version and id; asked to end, it answers what waits, and ends. */
const NODE_SERVER = `
const { createServer } = require('node:net');
require('node:fs').readFileSync(process.env.GATE);
const { PORT, VERSION, DROVER_INSTANCE_ID } = process.env;
const server = createServer((socket) => socket.end(VERSION + ' ' + DROVER_INSTANCE_ID));
server.listen({ port: Number(PORT), host: '127.0.0.1', reusePort: true });
process.on('SIGTERM', () => server.close(() => process.exit(0)));
`;
const PYTHON_SERVER = `
import os, select, signal, socket
open(os.environ['GATE']).read()
ends = []
signal.signal(signal.SIGTERM, lambda *_: ends.append(1))
server = socket.socket()
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
server.bind(('127.0.0.1', int(os.environ['PORT'])))
server.listen(64)
server.setblocking(False)
answer = (os.environ['VERSION'] + ' ' + os.environ['DROVER_INSTANCE_ID']).encode()
while select.select([server], [], [], 0.05)[0] or not ends:
    try:
        peer, _ = server.accept()
        peer.sendall(answer)
        peer.close()
    except BlockingIOError:
        pass
`;

/** The command of a server that shares its port; undefined: neither this Node.js nor a Python can. */
function findServer(): string | undefined {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if ((major === 22 && minor >= 12) || (major === 23 && minor >= 1) || major > 23)
    return `exec ${process.execPath} -e "eval(process.env.NODE_SERVER)"`;
  const { stdout } = spawnSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' });
  return stdout ? `exec ${stdout.trim()} -c "import os; exec(os.environ['PYTHON_SERVER'])"` : undefined;
}
const server = findServer();

function configure(version: string, first: number, fields: Partial<ConfigurationInput> = {}): void {
  world.configure('web', {
    command: server ?? expect.fail('there is a server'),
    environmentVariables: { NODE_SERVER, PYTHON_SERVER, VERSION: version, GATE: '/dev/null' },
    ramMB: 64,
    minimumServiceCount: COUNT,
    availablePorts: { min: first, max: first + 3 },
    sharePort: 'reuse',
    readiness: { tcpPort: '%PORT%', intervalSeconds: 0.1 },
    update: { strategy: 'rolling', maxSurge: 1, maxUnavailable: 0, minReadySeconds: 0 },
    ...fields,
  });
}

/** An answer, or the code of what went wrong; empty: the connection was closed without one. */
async function ask(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  try {
    return await text(socket);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}

const isAnswer = (answer: string): boolean => /^(one|two) \S+$/.test(answer);

it.skipIf(server === undefined)('answers on one port with all replicas, through a rollout', async () => {
  const first = await freePorts(4);
  configure('one', first);
  const before = await world.untilOnline('web', COUNT);
  expect(before.map(({ allocatedPort }) => allocatedPort)).toEqual(before.map(() => first));
  const seen = new Set<string>();
  await until(async () => {
    seen.add(await ask(first));
    expect([...seen].toSorted()).toEqual(before.map(({ id }) => `one ${id}`).toSorted());
  });
  const addresses = await world.api.send('GET', '/discovery/addresses/web');
  expect(addresses.text.trim().split('\n')).toHaveLength(1);

  const answers: string[] = [];
  let isOver = false;
  const load = (async () => {
    while (!isOver) answers.push(await ask(first));
  })();
  configure('two', first);
  await until(async () => {
    const now = await world.api.instances('web');
    expect(now.filter(({ id }) => before.some((old) => old.id === id))).toEqual([]);
    expect(now.map(({ state, allocatedPort }) => `${state} ${allocatedPort}`)).toEqual(
      before.map(() => `ONLINE ${first}`),
    );
  });
  isOver = true;
  await load;
  expect(answers).not.toContain('ECONNREFUSED');
  // What one that ends has not accepted is lost: a connection or two of each, where the kernel hands none over.
  expect(answers.filter((answer) => !isAnswer(answer)).length).toBeLessThanOrEqual(2 * COUNT);
  // An old one is off the list before its program has answered the last of those that wait.
  await until(async () => {
    const running = (await world.processes.marked()).map(({ instanceId }) => instanceId);
    expect(before.filter(({ id }) => running.includes(id))).toEqual([]);
  });
  expect(await ask(first)).toMatch(/^two /);
  // New ones answered beside old ones.
  const firstNew = answers.findIndex((answer) => answer.startsWith('two'));
  expect(answers.slice(firstNew).some((answer) => answer.startsWith('one'))).toBe(true);
});

it.skipIf(server === undefined)(
  'gives another configuration another port, and a crash comes back to its own',
  async () => {
    const first = await freePorts(4);
    configure('one', first);
    const [one] = await world.untilOnline('web', COUNT);
    world.configure('shop', {
      command: server ?? '',
      environmentVariables: { NODE_SERVER, PYTHON_SERVER, VERSION: 'two', GATE: '/dev/null' },
      availablePorts: { min: first, max: first + 3 },
      sharePort: 'reuse',
      readiness: { tcpPort: '%PORT%', intervalSeconds: 0.1 },
    });
    const [other] = await world.untilOnline('shop', 1);
    expect(other?.allocatedPort).toBe(first + 1);
    if (one === undefined) expect.fail('there is one');
    const { processPid } = await world.api.instance(one.id);
    process.kill(processPid ?? expect.fail('it runs'), 'SIGKILL');
    await until(async () => {
      const now = await world.api.instance(one.id);
      expect(now).toMatchObject({ state: 'ONLINE', allocatedPort: first, restarts: 1 });
    });
    for (let count = 0; count < 20; count++) expect(await ask(first)).toMatch(/^one /);
  },
);

it.skipIf(server === undefined)('is ready by its own socket, not by that of a sibling', async () => {
  const first = await freePorts(4);
  // A pipe: each reader waits until this test writes.
  const gate = join(world.root, 'gate');
  expect(spawnSync('mkfifo', [gate]).status).toBe(0);
  const environmentVariables = { NODE_SERVER, PYTHON_SERVER, VERSION: 'one', GATE: gate };
  // The problem is told once the time is over; the check goes on.
  const readiness = { tcpPort: '%PORT%', intervalSeconds: 0.1, timeoutSeconds: 1 } as const;
  configure('one', first, { environmentVariables, readiness, minimumServiceCount: 1 });
  await writeFile(gate, 'go');
  const [one] = await world.untilOnline('web', 1);
  configure('one', first, { environmentVariables, readiness, minimumServiceCount: 2 });
  await until(async () => {
    const messages = (await world.api.instances('web')).map(({ message }) => message ?? '');
    expect(messages).toContainEqual(expect.stringContaining('does not listen on it itself'));
  });
  expect(await ask(first)).toBe(`one ${one?.id}`);
  await writeFile(gate, 'go');
  await world.untilOnline('web', 2);
});
