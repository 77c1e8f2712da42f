/** `why` on a real node: real processes, real ports, real files, and the truth about each. */
import { createServer, type Server } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { configurationExplanationSchema, instanceExplanationSchema } from '../../src/explain/explanation.js';
import { renderConfigurationExplanation, renderInstanceExplanation } from '../../src/command-tree/explanation-text.js';
import type { DaemonWorld } from '../support/daemon/daemon.js';
import { shareDaemon } from '../support/daemon/shared-daemon.js';
import { freePorts } from '../support/free-ports.js';
import { until } from '../support/until.js';

let world: DaemonWorld;
let foreign: Server | undefined;
shareDaemon(
  (shared) => {
    world = shared;
  },
  { settings: { maxRamMB: 1000 } },
);
afterEach(async () => {
  await new Promise((resolve) => (foreign === undefined ? resolve(undefined) : foreign.close(resolve)));
  foreign = undefined;
});

async function why(id: string) {
  const answer = await world.api.send('GET', `/instances/${id}/why`);
  expect(answer.status).toBe(200);
  return instanceExplanationSchema.parse(JSON.parse(answer.text));
}

async function whyConfiguration(name: string) {
  const answer = await world.api.send('GET', `/configurations/${name}/why`);
  expect(answer.status).toBe(200);
  return configurationExplanationSchema.parse(JSON.parse(answer.text));
}

async function idOf(name: string): Promise<string> {
  const [instance] = await world.api.instances(name);
  if (instance === undefined) throw new Error(`there is no instance of ${name}`);
  return instance.id;
}

it('tells a healthy instance, a crash loop, and a deliberate stop apart, before and after a restart of the daemon', async () => {
  world.failing.add('hasty');
  world.configure('hasty', { command: 'echo "run of $$"; echo "cannot find the thing" >&2; exit 3' });
  world.configure('calm', { command: 'echo up; exec sleep 1000', minimumServiceCount: 2 });
  const [calm, resting] = await world.untilOnline('calm', 2);
  if (calm === undefined || resting === undefined) throw new Error('untilOnline gave nothing');
  expect((await why(calm.id)).verdict).toMatch(
    new RegExp(`^${calm.id} \\(calm\\) is ONLINE, as it should be: up for [\\d.]+ s on node-a\\.$`),
  );

  await world.untilMessage('hasty', /^exited with code 3, restart [3-9] in/);
  const id = await idOf('hasty');
  const crashing = await until(async () => {
    const told = await why(id);
    const { restarts, failuresInARow, exits } = told;
    // Between two runs; which ones they are depends on the speed of the machine.
    expect(told.verdict).toMatch(
      new RegExp(
        `waits [\\d.]+ s for restart ${restarts + 1}: it exited with code 3, the \\d(rd|th) failure in a row\\.$`,
      ),
    );
    expect(told).toMatchObject({ desired: 'run', actual: 'OFFLINE', isSettled: false });
    expect(exits[0]?.run).toBe(failuresInARow);
    expect(exits.map(({ run }) => run)).toEqual(exits.map((_exit, index) => failuresInARow - index));
    for (const exit of exits)
      expect(exit).toMatchObject({
        code: 3,
        wasAsked: false,
        lastLines: [expect.stringMatching(/^run of \d+$/), 'cannot find the thing'],
      });
    // Each run has lines of its own.
    expect(new Set(exits.flatMap(({ lastLines }) => lastLines[0])).size).toBe(exits.length);
    expect(exits.length).toBeGreaterThanOrEqual(3);
    expect(renderInstanceExplanation(told)).toMatch(/exited with code 3 .* ago \(.*Z\)\n {4}\| run of/);
    return told;
  });

  await world.api.lifecycle(resting.id, 'stop');
  await until(async () => {
    const told = await why(resting.id);
    expect(told.verdict).toBe(
      `${resting.id} (calm) is stopped, as it should be: its process was ended by SIGTERM.`,
    );
    expect(told).toMatchObject({ isSettled: true, desired: 'stop', actual: 'STOPPED' });
    expect(told.exits).toEqual([expect.objectContaining({ wasAsked: true, lastLines: ['up'] })]);
  });

  await world.restart('SIGTERM');
  await until(async () => {
    const { exits } = await why(id);
    const newest = crashing.exits[0];
    expect(exits.find(({ run }) => run === newest?.run)).toMatchObject({
      at: newest?.at,
      lastLines: newest?.lastLines,
    });
  });
  expect((await why(resting.id)).exits).toEqual([expect.objectContaining({ lastLines: ['up'] })]);
});

it('shows who holds a full port range, and that there is no RAM or no runtime', async () => {
  const first = await freePorts(2);
  const availablePorts = { min: first, max: first + 1 };
  foreign = createServer();
  await new Promise<void>((resolve) => foreign?.listen(first + 1, '0.0.0.0', resolve));
  for (const name of ['late', 'large', 'odd']) world.failing.add(name);
  world.configure('early', { command: 'exec sleep 1000', availablePorts });
  world.configure('large', { command: 'exec sleep 1000', ramMB: 5000 });
  world.configure('odd', { command: 'exec sleep 1000', runtime: 'no-such-runtime' });
  const [early] = await world.untilOnline('early', 1);
  world.configure('late', { command: 'exec sleep 1000', availablePorts });
  await until(async () => {
    const told = await why(await idOf('late'));
    expect(told.verdict).toMatch(
      new RegExp(
        `cannot be started: tcp port ${first + 1} is held by another process on this node \\(.+, pid ${process.pid}\\)\\.$`,
      ),
    );
    expect(told.advice).toContain(`ss -tulpn 'sport = :${first + 1}'`);
    expect(told.portHolders).toEqual([
      expect.objectContaining({ port: first, instanceId: early?.id, configurationName: 'early' }),
      expect.objectContaining({ port: first + 1, instanceId: null, protocol: 'tcp' }),
    ]);
  });

  const large = await why(await idOf('large'));
  expect(large.verdict).toMatch(
    /\(large\) does not fit on node-a, the only node: short of RAM \(need 5000 MB, free \d+ MB\)\.$/,
  );
  expect(large.advice).toMatch(
    /^Lower ramMB of large and delete the instance: no node has that much in all\./,
  );
  expect(large.nodes).toEqual([
    {
      nodeId: 'node-a',
      fits: false,
      failed: 'ram',
      message: expect.stringMatching(/^needs 5000 MB of RAM, \d+ MB of 1000 MB free$/),
    },
  ]);
  expect((await whyConfiguration('odd')).nodes).toEqual([
    {
      nodeId: 'node-a',
      fits: false,
      failed: 'runtime',
      message: 'does not offer runtime no-such-runtime: the node has no such runtime',
    },
  ]);

  await new Promise((resolve) => foreign?.close(resolve));
  foreign = undefined;
  await world.untilOnline('late', 1);
  expect((await why(await idOf('late'))).isSettled).toBe(true);
  world.failing.delete('late');
});

it('points at the line of a broken file, and says what stays in force', async () => {
  world.configure('calm', { command: 'exec sleep 1000' });
  await world.untilOnline('calm', 1);
  const broken = '{\n  "name": "calm",\n  "command": "exec sleep 1000",\n  "ramMB": "much"\n}\n';
  world.writeConfigurationFile('calm.json', broken);
  world.writeConfigurationFile('new.json', broken.replace('calm', 'brandnew'));
  await until(async () => {
    const calm = await whyConfiguration('calm');
    expect(calm.verdict).toBe(
      'calm is as it should be: 1 instance ONLINE, 1 asked for, but calm.json is broken.',
    );
    expect(calm.advice).toBe('Mend line 4 of calm.json (ramMB) and save it.');
    expect(calm.files).toEqual([
      expect.objectContaining({ name: 'calm.json', isInForce: false, line: 4, field: 'ramMB' }),
    ]);
    const fresh = await whyConfiguration('brandnew');
    expect(fresh.verdict).toMatch(
      /^brandnew is not in force: new\.json at line 4 is broken: ramMB: must be /,
    );
    expect(renderConfigurationExplanation(fresh)).toContain('Mend line 4 of new.json (ramMB) and save it.');
  });
  world.configure('calm', { command: 'exec sleep 1000' });
  world.configure('new', { command: 'exec sleep 1000', minimumServiceCount: 0 });
  await until(async () => expect((await whyConfiguration('calm')).isSettled).toBe(true));
});
