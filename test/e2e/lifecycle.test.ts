/** Removal, stop and start at awkward moments, standard input byte for byte, and two nodes side by side. */
import { expect, it } from 'vitest';
import { DaemonWorld } from '../support/daemon/daemon.js';
import { shareDaemon } from '../support/daemon/shared-daemon.js';
import { until } from '../support/until.js';

let world: DaemonWorld;
shareDaemon((shared) => {
  world = shared;
});

it('removes an instance that waits for a node, and one that is being installed', async () => {
  const files = Array.from({ length: 300 }, (_, index) => [`f${index}`, 'content']);
  world.template('group', 'large', Object.fromEntries(files));
  world.configure('huge', { command: 'exec sleep 1000', ramMB: 1_000_000, minimumServiceCount: 0 });
  world.configure('large', {
    command: 'exec sleep 1000',
    minimumServiceCount: 0,
    templateInstallationConfig: { allOf: [{ group: 'group', name: 'large' }] },
  });
  for (const name of ['huge', 'large']) await world.untilConfigured(name);
  const waiting = await world.api.create('huge');
  expect(waiting).toMatchObject({
    state: 'CREATING',
    message: '0/1 nodes fit: 1 short of RAM (need 1000000 MB, free 65536 MB)',
  });
  await world.api.remove(waiting.id);
  const installing = await world.api.create('large');
  expect(installing.state).toBe('CREATING');
  await world.api.remove(installing.id);
  expect(await world.api.instances()).toEqual([]);
});

it('does what was asked for last when stop, start and restart come in quick turn', async () => {
  world.configure('service', { command: 'echo up; exec sleep 1000', minimumServiceCount: 0 });
  await world.untilConfigured('service');
  const { id } = await world.api.create('service');
  const [before] = await world.untilOnline('service', 1);
  for (let round = 0; round < 5; round++) {
    await world.api.lifecycle(id, 'stop');
    await world.api.lifecycle(id, 'start');
    await world.api.lifecycle(id, 'restart');
  }
  await until(async () => {
    const [after] = await world.untilOnline('service', 1);
    expect(after).toMatchObject({ id, restarts: 0 });
    expect(after?.processPid).not.toBe(before?.processPid);
  });
  for (let round = 0; round < 5; round++) {
    await world.api.lifecycle(id, 'start');
    await world.api.lifecycle(id, 'stop');
  }
  await until(async () => {
    expect(await world.api.instance(id)).toMatchObject({ state: 'STOPPED', processPid: null });
    expect(await world.processes.marked()).toEqual([]);
  });
});

it('gives a fresh working directory to a restarted instance, and a static one keeps its own', async () => {
  const command = 'ls; touch made-by-it; echo listed; exec sleep 1000';
  world.configure('fresh', { command });
  world.configure('kept', { command, static: true });
  for (const [name, expected] of [
    ['fresh', ['listed', 'listed']] as const,
    ['kept', ['listed', 'made-by-it', 'listed']] as const,
  ]) {
    const [{ id = '' } = {}] = await world.untilOnline(name, 1);
    await world.untilLogged(id, /^listed$/);
    await world.api.lifecycle(id, 'restart');
    await until(async () => expect(await world.api.logs(id)).toEqual(expected));
  }
});

it('takes the directory of a deleted static instance up again, with the data in it', async () => {
  world.configure('keeper', {
    command: 'echo "data: $(cat data)"; [ -e data ] || echo precious > data; echo up; exec sleep 1000',
    static: true,
    minimumServiceCount: 0,
  });
  await world.untilConfigured('keeper');
  const { id } = await world.api.create('keeper');
  await world.untilLogged(id, /^up$/);
  // Not as a removal that the world remembers: the id comes back.
  await world.api.send('DELETE', `/instances/${id}`);
  const left = async () => (await world.api.send('GET', '/cluster/left-directories')).text;
  await until(async () => {
    const directory = { id, nodeId: 'node-a', configurationName: 'keeper', sizeBytes: 9 };
    expect(JSON.parse(await left())).toMatchObject({
      directories: expect.arrayContaining([expect.objectContaining(directory)]),
    });
  });
  expect(await world.api.instances('keeper')).toEqual([]);
  const adopted = await world.api.send('POST', `/cluster/left-directories/${id}/adopt`, {});
  expect(adopted).toMatchObject({ status: 201 });
  expect(await world.untilOnline('keeper', 1)).toMatchObject([{ id }]);
  await world.untilLogged(id, /^data: precious$/);
  expect(await left()).not.toContain(id);
});

it('delivers standard input byte for byte, and refuses a line that a terminal would cut', async () => {
  const text = '\x01 $(x) `y` "q" \'s\' \\n %PORT% é 語 \u{1f600} \x1b[A ^C';
  const bytes = Buffer.from(`${text}\n`);
  world.configure('reader', {
    command: `stty -echo; echo ready; head -c ${bytes.length} | od -An -v -tx1; exec sleep 1000`,
  });
  const [{ id = '' } = {}] = await world.untilOnline('reader', 1);
  await world.untilLogged(id, /^ready$/);
  const tooLong = await world.api.send('POST', `/instances/${id}/execute`, { command: 'x'.repeat(4001) });
  expect(tooLong).toMatchObject({ status: 400, text: expect.stringContaining('4001 bytes') });
  await world.api.execute(id, text);
  await until(async () => {
    const dump = (await world.api.logs(id)).slice(1).join('').replaceAll(' ', '');
    expect(dump).toBe(bytes.toString('hex'));
  });
});

it('does not meet another node on this machine', async () => {
  const other = await DaemonWorld.create({ settings: { nodeId: 'node-a' } });
  try {
    await other.start();
    for (const one of [world, other])
      one.configure('service', { command: 'exec sleep 1000', minimumServiceCount: 2 });
    const [mine, theirs] = [await world.untilOnline('service', 2), await other.untilOnline('service', 2)];
    expect(await world.kill('SIGINT')).toEqual({ code: 0, signal: null });
    expect(await other.api.instances()).toMatchObject(
      theirs.map(({ id, processPid }) => ({ id, processPid })),
    );
    expect(mine.map(({ id }) => id)).not.toEqual(theirs.map(({ id }) => id));
    await other.finish({ isFailed: false });
  } catch (error) {
    await other.finish({ isFailed: true });
    throw error;
  }
});
