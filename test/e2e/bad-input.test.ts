/** What operators get wrong and what machines run out of: a clear reason where they look, nothing lost, nothing else disturbed. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DaemonWorld } from '../support/daemon/daemon.js';
import { shareDaemon } from '../support/daemon/shared-daemon.js';
import { freePorts } from '../support/free-ports.js';
import { SmallDisk } from '../support/templates/small-disk.js';
import { until } from '../support/until.js';

let world: DaemonWorld;
shareDaemon((shared) => {
  world = shared;
});

const SLEEP = 'exec sleep 1000';

it('keeps the last good configuration when its file breaks, and says where it is broken', async () => {
  world.configure('service', { command: SLEEP, minimumServiceCount: 2 });
  const before = await world.untilOnline('service', 2);
  world.writeConfigurationFile('service.json', '{\n  "name": "service",\n  "minimumServiceCount": 0,,\n}');
  await untilFileErrors(1);
  await until(() => expect(world.daemon.stdout).toMatch(/ERROR: .*service\.json:3:\d+: /));
  expect(await world.api.send('GET', '/configurations/service')).toMatchObject({
    status: 200,
    text: expect.stringContaining('"minimumServiceCount":2'),
  });
  expect(await world.untilOnline('service', 2)).toMatchObject(
    before.map(({ processPid }) => ({ processPid })),
  );
  world.configure('service', { command: SLEEP, minimumServiceCount: 3 });
  await untilFileErrors(0);
  await world.untilOnline('service', 3);
});

const untilFileErrors = (count: number): Promise<void> =>
  until(async () => {
    expect(await world.api.metrics()).toMatch(new RegExp(`^drover_configuration_file_errors ${count}$`, 'm'));
  });

const FAULTS: readonly [fault: string, fields: Record<string, unknown>, answer: RegExp][] = [
  ['a wrong type', { minimumServiceCount: 'two' }, /minimumServiceCount: must be a whole number/],
  ['a negative count', { minimumServiceCount: -1 }, /minimumServiceCount: must be a whole number/],
  [
    'a reversed port range',
    { availablePorts: { min: 9000, max: 8000 } },
    /availablePorts\.min: must not be greater/,
  ],
  [
    'a template that escapes',
    { templateInstallationConfig: { allOf: [{ group: 'g', name: '../../data' }] } },
    /templateInstallationConfig\.allOf\[0\]\.name: must start with a letter or digit/,
  ],
  [
    'a file that escapes',
    { fileModifications: ['../config.json'] },
    /fileModifications\[0\]: must be a relative path/,
  ],
  ['no command', { command: '' }, /command: must be a text/],
];

it('refuses configurations that cannot be right, by file and by API, naming the field', async () => {
  for (const [index, [, fields]] of FAULTS.entries())
    world.writeConfigurationFile(
      `bad${index}.json`,
      JSON.stringify({ name: `bad${index}`, runtime: 'process', command: SLEEP, ...fields }),
    );
  world.configure('service', { command: SLEEP });
  await world.untilOnline('service', 1);
  await untilFileErrors(FAULTS.length);
  for (const [index, [fault, fields, answer]] of FAULTS.entries()) {
    expect(world.daemon.stdout, fault).toMatch(new RegExp(`bad${index}\\.json.*${answer.source}`));
    const put = await world.api.send('PUT', '/configurations/put', {
      name: 'put',
      command: SLEEP,
      ...fields,
    });
    expect(put, fault).toMatchObject({ status: 400, text: expect.stringMatching(answer) });
  }
  expect(await world.api.instances()).toHaveLength(1);
});

it('says which runtime or template is missing, and goes on when the template appears', async () => {
  world.failing.add('foreign');
  world.configure('foreign', { command: SLEEP, runtime: 'abacus' });
  world.configure('early', {
    command: 'cat file; exec sleep 1000',
    templateInstallationConfig: { allOf: [{ group: 'group', name: 'late' }] },
  });
  await world.untilMessage('foreign', /^0\/1 nodes fit: 1 does not offer runtime abacus$/);
  await world.untilMessage('early', /group\/late/);
  expect(await world.processes.marked()).toEqual([]);
  world.template('group', 'late', { file: 'here it is\n' });
  const [{ id = '' } = {}] = await world.untilOnline('early', 1);
  await world.untilLogged(id, /^here it is$/);
});

it('passes over ports that other programs hold, TCP or UDP, and says when there is none left', async () => {
  const port = await freePorts(3);
  const tcp = createServer().listen(port, '127.0.0.1');
  const udp = createSocket('udp4').bind(port + 1, '127.0.0.1');
  try {
    await Promise.all([once(tcp, 'listening'), once(udp, 'listening')]);
    world.configure('service', { command: SLEEP, availablePorts: { min: port, max: port + 2 } });
    const [first] = await world.untilOnline('service', 1);
    expect(first?.allocatedPort).toBe(port + 2);
    const { message } = await world.api.create('service');
    const range = `${port}-${port + 2}`;
    expect(message).toBe(
      `0/1 nodes fit: 1 without a free port in ${range} (2 of them held by other programs)`,
    );
    // Its port goes to the one that waits.
    await world.api.remove(first?.id ?? '');
    const [second] = await world.untilOnline('service', 1);
    expect(second?.allocatedPort).toBe(port + 2);
  } finally {
    tcp.close();
    udp.close();
  }
});

describe.skipIf(!SmallDisk.isPossible)('on a full disk (needs root and the right to mount a tmpfs)', () => {
  it('says that the disk is full while it installs, and installs when space returns', async () => {
    const disk = new SmallDisk('24m');
    const root = join(disk.path, 'root');
    mkdirSync(root);
    const small = await DaemonWorld.create({ root });
    let isFailed = true;
    try {
      small.template('group', 'big', { big: 'x'.repeat(4 * 1024 * 1024) });
      small.configure('service', {
        command: 'wc -c < big; exec sleep 1000',
        templateInstallationConfig: { allOf: [{ group: 'group', name: 'big' }] },
        minimumServiceCount: 0,
      });
      await small.start();
      disk.fill(2 * 1024 * 1024);
      await small.api.create('service');
      const { id } = await small.untilMessage('service', /no space|disk.*full|space left/i);
      expect(await small.processes.marked()).toEqual([]);
      disk.free();
      await small.untilOnline('service', 1);
      await small.untilLogged(id, /^4194304$/);
      isFailed = false;
    } finally {
      await small.finish({ isFailed });
      await until(() => disk.close());
    }
  });
});
