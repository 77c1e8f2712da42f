/** `why` over a real master and real wrappers in one process: what is told is what was decided. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Explainer } from '../../../src/explain/explainer.js';
import {
  type ConfigurationExplanation,
  configurationExplanationSchema,
  type InstanceExplanation,
  instanceExplanationSchema,
} from '../../../src/explain/explanation.js';
import { renderConfigurationExplanation, renderInstanceExplanation } from '../../../src/command-tree/explanation-text.js';
import type { ConfigurationFileError } from '../../../src/model/configuration.js';
import { DroverError } from '../../../src/model/errors.js';
import { toInstanceInfo } from '../../../src/model/instance.js';
import type { Exit } from '../../../src/model/run/past-exit.js';
import { ApiWorld, instanceRecord } from '../../support/api/api-world.js';
import { Gate, GatedTransport } from '../../support/cluster/gated-transport.js';
import { ControlPlane, type TestNode } from '../../support/control-plane/control-plane.js';
import { NO_FILES } from '../../support/control-plane/explain-facts.js';
import { FakeClock } from '../../support/fake-clock.js';

const LOBBY = { name: 'lobby', runtime: 'process', command: 'run', ramMB: 100, cpu: 10 };
const SMALL = { maxRamMB: 1000, maxCpu: 400 };
const SPAN = { from: { segment: 1, offset: 0 }, to: { segment: 1, offset: 9 } };

describe('why', () => {
  let clock: FakeClock;
  let plane: ControlPlane;
  let explainer: Explainer;
  let gate: Gate;
  const fileErrors: ConfigurationFileError[] = [];
  /** What each install finds without effect. */
  let warnings: string[];

  beforeEach(async () => {
    clock = new FakeClock();
    gate = new Gate();
    fileErrors.length = 0;
    warnings = [];
    plane = new ControlPlane({
      clock,
      groups: new Map([['games', ['lobby']]]),
      adaptInstallation: (installation) => ({
        ...installation,
        install: async (...install) => {
          await installation.install(...install);
          return warnings;
        },
        readOutput: async () => ({ lines: ['starting', '\u001b[31mboom\u001b[0m'], isKept: true }),
      }),
      adaptTransport: (transport, nodeId) =>
        nodeId === 'gated' ? new GatedTransport(transport, gate) : transport,
    });
    await plane.start();
    explainer = plane.master.explainer({ ...NO_FILES, errors: () => fileErrors });
  });
  afterEach(() => plane.stop());

  const settle = (): Promise<void> => clock.advance(500);
  const idsOf = (name: string): string[] =>
    plane
      .records()
      .filter(({ configurationName }) => configurationName === name)
      .map(({ id }) => id);
  const onlineOf = (name: string): string[] =>
    idsOf(name).filter((id) => plane.master.state.instances.get(id)?.value.status.state === 'ONLINE');
  async function whyOne(name = 'lobby'): Promise<InstanceExplanation> {
    const told = await explainer.instance(idsOf(name)[0] ?? '');
    expect(instanceExplanationSchema.parse(told)).toEqual(told);
    expect(renderInstanceExplanation(told)).toContain(told.instanceId);
    return told;
  }
  async function whyAll(name = 'lobby'): Promise<ConfigurationExplanation> {
    const told = await explainer.configuration(name);
    expect(configurationExplanationSchema.parse(told)).toEqual(told);
    expect(renderConfigurationExplanation(told)).toContain(name);
    return told;
  }
  /** Without the instance's name. */
  const said = ({ instanceId, configurationName, verdict }: InstanceExplanation): string =>
    verdict.replace(`${instanceId} (${configurationName}) `, '');
  function crash(node: TestNode, id: string | undefined, how: Partial<Exit> = {}): void {
    node.runtime.end(id ?? '', { code: 1, signal: null, at: clock.now(), output: SPAN, ...how });
  }

  it('calls a healthy instance and its configuration well, in one line each', async () => {
    await plane.addNode('alpha', { capacity: SMALL });
    await plane.putConfiguration({ ...LOBBY, availablePorts: { min: 30000, max: 30001 } });
    await clock.advance(12_000);
    const one = await whyOne();
    expect(said(one)).toBe('is ONLINE, as it should be: up for 12 s on alpha, port 30000.');
    expect(one).toMatchObject({ isSettled: true, next: null, advice: null, notes: [], nodes: [], exits: [] });
    const all = await whyAll();
    expect(all).toMatchObject({
      verdict: 'lobby is as it should be: 1 instance ONLINE, 1 asked for.',
      isSettled: true,
      advice: null,
      files: [{ name: 'lobby.json', isInForce: true }],
      nodes: [
        {
          nodeId: 'alpha',
          fits: true,
          message: 'fits: needs 100 MB of RAM, 900 MB of 1000 MB free, port 30001',
        },
      ],
    });
  });

  it('warns of what an install found without effect, until a later install finds nothing', async () => {
    const node = await plane.addNode('alpha');
    warnings = ['fileModifications: a.cfg is in none of the templates', 'command asks for %ZONE%'];
    await plane.putConfiguration({ ...LOBBY, minimumServiceCount: 2 });
    await settle();
    const [id = ''] = idsOf('lobby');
    const text = warnings.join('; ');
    const one = await explainer.instance(id);
    expect(one).toMatchObject({ isSettled: true, notes: [`Warning: ${text}.`] });
    expect((await whyAll()).notes).toEqual([
      `Warning: instances ${idsOf('lobby').toSorted().join(', ')}: ${text}.`,
    ]);
    const record = plane.records().find((other) => other.id === id);
    expect(record && toInstanceInfo(record, 0).warning).toBe(text);
    warnings = [];
    crash(node, id);
    await settle();
    expect((await explainer.instance(id)).notes).toEqual([]);
    expect((await whyAll()).notes.filter((note) => note.startsWith('Warning'))).toHaveLength(1);
  });

  it('names the last ends that nobody asked for, also of an instance that is gone', async () => {
    const node = await plane.addNode('alpha');
    await plane.putConfiguration(LOBBY);
    await settle();
    const [id = ''] = idsOf('lobby');
    for (let end = 1; end <= 4; end++) {
      crash(node, id, { code: end });
      await clock.advance(10_000);
    }
    await plane.master.writer.removeWhile(id, () => true);
    await settle();
    expect(idsOf('lobby')).not.toContain(id);
    expect([...plane.master.state.exits.entries()].map(([, { value }]) => value.lines)).toEqual(
      Array.from({ length: 4 }, () => ['starting', 'boom']),
    );
    expect((await whyAll()).notes).toEqual([
      `${id} exited with code 4 11 s ago, unasked; its last line: boom`,
      `${id} exited with code 3 21 s ago, unasked; its last line: boom`,
      `${id} exited with code 2 31 s ago, unasked; its last line: boom`,
    ]);
  });

  it('cuts what an install found to what a report may hold', async () => {
    await plane.addNode('alpha');
    warnings = ['x'.repeat(5000)];
    await plane.putConfiguration(LOBBY);
    await settle();
    const [record] = plane.records();
    expect([record?.status.state, record?.status.warning?.length]).toEqual(['ONLINE', 2048]);
  });

  it('shows the backoff as time left now, and the last runs with their last lines', async () => {
    const node = await plane.addNode('alpha');
    await plane.putConfiguration(LOBBY);
    await settle();
    const [id] = idsOf('lobby');
    for (let n = 0; n < 3; n++) {
      crash(node, id);
      await clock.advance(n === 2 ? 200 : 3000);
    }
    const first = await whyOne();
    // Three failures: 2 s, shortened by a tenth (the random source says 0.5).
    expect(said(first)).toBe('waits 2 s for restart 3: it exited with code 1, the 3rd failure in a row.');
    expect(first).toMatchObject({ restarts: 2, failuresInARow: 3, retryInMs: 1600, actual: 'OFFLINE' });
    await clock.advance(900);
    expect(await whyOne()).toMatchObject({ retryInMs: 700 });
    expect(first.exits.map(({ run, agoMs }) => [run, agoMs])).toEqual([
      [3, 200],
      [2, 3200],
      [1, 6200],
    ]);
    expect(first.exits[0]).toMatchObject({ code: 1, wasAsked: false, lastLines: ['starting', 'boom'] });
    // It holds its slot, but nothing counts it as one that works: neither while it waits nor while it is up for now.
    const working = () => plane.master.led().controllers.minimumService.working('lobby');
    expect([working(), (await whyAll()).online, (await whyAll()).actual]).toEqual([0, 0, 1]);
    await clock.advance(1000);
    expect(said(await whyOne())).toMatch(/^is up for now: up for .* after 3 failures in a row\.$/);
    expect([working(), (await whyAll()).online, (await whyAll()).isSettled]).toEqual([0, 0, false]);
    await clock.advance(60_000);
    expect(said(await whyOne())).toMatch(/^is ONLINE, as it should be/);
    expect([working(), (await whyAll()).online, (await whyAll()).isSettled]).toEqual([1, 1, true]);
  });

  it.each(['ONLINE', 'OFFLINE', 'CREATING'] as const)(
    'says that nothing runs of what is stopped and reported %s',
    async (state) => {
      await plane.addNode('alpha');
      await plane.putConfiguration({ ...LOBBY, static: true });
      await settle();
      const id = idsOf('lobby')[0] ?? '';
      await plane.master.writer.setLifecycle(id, 'stop');
      await settle();
      await plane.master.writer.reportState(id, { state });
      const status = () => plane.records().find((record) => record.id === id)?.status;
      const message = `reported ${state} by the instance or a tool, but nothing of it runs: it is stopped`;
      expect(status()).toMatchObject({ state, reason: 'stopped', message, pid: null });
      expect(await whyOne()).toMatchObject({ actual: state, isSettled: true });
      expect(said(await whyOne())).toMatch(
        new RegExp(`^is stopped, as it should be.*; the instance or a tool has reported ${state} since`),
      );
      expect((await whyAll()).online).toBe(0);
      await plane.master.writer.setLifecycle(id, 'start');
      await settle();
      expect(status()).toMatchObject({ state: 'ONLINE', reason: null });
    },
  );

  it('says that nothing runs of what has ended, or waits for a node, and is reported ONLINE', async () => {
    const node = await plane.addNode('alpha');
    await plane.putConfiguration({ ...LOBBY, restartPolicy: 'never' });
    await settle();
    const [id = ''] = idsOf('lobby');
    crash(node, id);
    await settle();
    await plane.master.writer.reportState(id, { state: 'ONLINE' });
    expect(plane.records()[0]?.status).toMatchObject({
      reason: 'exited',
      message: expect.stringMatching(/but nothing of it runs: it has ended$/),
    });
    expect(said(await whyOne())).toContain('has failed, and restartPolicy does not start it again');
    expect((await whyAll()).online).toBe(0);
    await plane.putConfiguration({ ...LOBBY, name: 'huge', nodes: ['nowhere'] });
    await settle();
    const [huge = ''] = idsOf('huge');
    await plane.master.writer.reportState(huge, { state: 'ONLINE' });
    expect(plane.records().find((record) => record.id === huge)?.status).toMatchObject({
      reason: 'no-node-fits',
      message: expect.stringMatching(/but nothing of it runs: it waits for a node$/),
    });
    expect((await explainer.configuration('huge')).online).toBe(0);
  });

  it('shows the stop ladder, what is left to end, and a deliberate stop', async () => {
    const node = await plane.addNode('alpha');
    await plane.putConfiguration({ ...LOBBY, static: true });
    await settle();
    const id = idsOf('lobby')[0] ?? '';
    node.runtime.stubborn.add(id);
    await plane.master.writer.setLifecycle(id, 'stop');
    await clock.advance(3000);
    const stopping = await whyOne();
    expect(said(stopping)).toBe('is being stopped: SIGTERM was sent 3 s ago.');
    expect(stopping).toMatchObject({ desired: 'stop', stopSignal: 'SIGTERM', killInMs: 7000 });
    await clock.advance(8000);
    const stopped = await whyOne();
    expect(said(stopped)).toBe('is stopped, as it should be: its process was ended by SIGKILL.');
    expect(stopped.next).toBe('It stays so and keeps its slot: nothing is created in its place.');
    expect(stopped.exits).toEqual([expect.objectContaining({ signal: 'SIGKILL', wasAsked: true })]);
    expect(await whyAll()).toMatchObject({
      isSettled: true,
      actual: 1,
      online: 0,
      notes: ['1 static instance was stopped on request and counts all the same.'],
    });
  });

  it('shows the first failed condition of each node with numbers, as the decision had it', async () => {
    await plane.addNode('alpha', { capacity: SMALL });
    await plane.addNode('beta', { capacity: { maxRamMB: 300, maxCpu: 5 } });
    await plane.addNode('gamma', { capacity: SMALL });
    const away = await plane.addNode('omega');
    await away.wrapper.stop();
    await settle();
    await plane.putConfiguration({ ...LOBBY, ramMB: 700, nodes: ['alpha'] });
    await settle();
    await plane.putConfiguration({ ...LOBBY, name: 'big', ramMB: 700, nodes: ['alpha', 'beta', 'omega'] });
    await settle();
    const one = await whyOne('big');
    expect(one.nodes).toEqual([
      {
        nodeId: 'alpha',
        fits: false,
        failed: 'ram',
        message: 'needs 700 MB of RAM, 300 MB of 1000 MB free',
      },
      { nodeId: 'beta', fits: false, failed: 'ram', message: 'needs 700 MB of RAM, 300 MB of 300 MB free' },
      {
        nodeId: 'gamma',
        fits: false,
        failed: 'not-allowed',
        message: "is not in the configuration's nodes (alpha, beta, omega)",
      },
      {
        nodeId: 'omega',
        fits: false,
        failed: 'not-connected',
        message: expect.stringMatching(/^was stopped [\d.]+ s ago and said that it will be back$/),
      },
    ]);
    // Beta could never hold it, alpha could.
    expect(one.advice).toMatch(/^Stop something, /);
    const { message } = plane.records().find(({ id }) => id === one.instanceId)?.status ?? {};
    expect(`0/4 nodes fit: ${said(one).replace(/^fits on none of 4 nodes: /, '')}`).toBe(`${message}.`);
    expect((await whyAll('big')).nodes).toEqual(one.nodes);
  });

  it('says why a node does not offer the runtime', async () => {
    const node = await plane.addNode('alpha');
    node.runtime.isAvailable = false;
    // Runtimes are looked at every 30 s.
    await clock.advance(31_000);
    await plane.putConfiguration(LOBBY);
    await settle();
    expect((await whyOne()).nodes).toEqual([
      {
        nodeId: 'alpha',
        fits: false,
        failed: 'runtime',
        message: 'does not offer runtime process: switched off',
      },
    ]);
    await plane.putConfiguration({ ...LOBBY, name: 'other', runtime: 'tmux' });
    await settle();
    expect((await whyAll('other')).nodes[0]?.message).toBe(
      'does not offer runtime tmux: the node has no such runtime',
    );
  });

  it('shows who holds each port: instances by name, other programs by protocol', async () => {
    const node = await plane.addNode('alpha');
    const availablePorts = { min: 30000, max: 30002 };
    await plane.putConfiguration({ ...LOBBY, availablePorts });
    await settle();
    node.foreignPorts.add(30001).add(30002);
    await plane.putConfiguration({ ...LOBBY, name: 'late', availablePorts });
    await settle();
    const late = await whyOne('late');
    expect(said(late)).toBe('cannot be started: tcp port 30002 is held by another process on this node.');
    expect(late.next).toMatch(/^No other port of 30000-30002 is free\. The next try is in \d s\.$/);
    expect(late.portHolders.map(({ port, instanceId, protocol }) => [port, instanceId, protocol])).toEqual([
      [30000, idsOf('lobby')[0], null],
      [30001, null, 'tcp'],
      [30002, null, 'tcp'],
    ]);
    expect(late).toMatchObject({ portRange: availablePorts, portHoldersTotal: 3 });
    node.foreignPorts.clear();
    await clock.advance(6000);
    expect(said(await whyOne('late'))).toMatch(/^is ONLINE, as it should be/);
  });

  it('says how long minimum-service waits while new instances do not stay', async () => {
    await plane.addNode('alpha');
    await plane.putConfiguration({ ...LOBBY, minimumServiceCount: 2 });
    await settle();
    for (let round = 0; round < 3; round++) {
      for (const id of onlineOf('lobby')) await plane.master.writer.reportState(id, { state: 'STOPPED' });
      await clock.advance(round === 2 ? 300 : 2500);
    }
    const all = await whyAll();
    expect(all).toMatchObject({
      verdict: 'lobby has 0 of 2 instances: the instances that were created last did not stay.',
      isSettled: false,
      actual: 0,
      nextCreationInMs: expect.any(Number),
    });
    const { nextCreationInMs } = all;
    await clock.advance(Number(nextCreationInMs) - 100);
    expect((await whyAll()).actual).toBe(0);
    await clock.advance(300);
    expect(await whyAll()).toMatchObject({ actual: 2, nextCreationInMs: null });
  });

  it('says what is missing of the templates before and after an instance has a node', async () => {
    await plane.addNode('alpha');
    const templateInstallationConfig = { allInGroups: ['none'] };
    await plane.putConfiguration({ ...LOBBY, templateInstallationConfig });
    await settle();
    expect(said(await whyOne())).toMatch(/^cannot be placed: .*none/);
    expect((await whyOne()).advice).toContain('templateInstallationConfig of lobby');
  });

  it('tells of a node that is away from what the master knows, and of the replacement', async () => {
    const node = await plane.addNode('alpha');
    await plane.putConfiguration(LOBBY);
    await settle();
    await node.wrapper.stop();
    await clock.advance(5000);
    const returning = await whyOne();
    expect(said(returning)).toBe(
      'cannot be reached: its node alpha was stopped 5 s ago and said that it will be back.',
    );
    expect(returning.next).toBe(
      'Unless the node is back within 55 s, it counts as lost. Then it is replaced.',
    );
    expect(returning.nodeAnswer).toMatch(/^node alpha is not connected/);
    await plane.addNode('beta');
    await clock.advance(60_000);
    const lost = await explainer.instance(returning.instanceId);
    expect(said(lost)).toBe('cannot be reached: its node alpha has been lost for 5 s.');
    expect(lost.next).toBe(
      'Others of lobby that count: 1, asked for: 1. When the node is back, it goes on there.',
    );
    expect(lost.notes).toEqual(['Node alpha is away: this is what the master knew last.']);
  });

  it('does not wait for a node that does not answer', async () => {
    await plane.addNode('gated');
    await plane.putConfiguration(LOBBY);
    await settle();
    gate.shut();
    const explaining = explainer.instance(idsOf('lobby')[0] ?? '');
    await clock.advance(2000);
    const told = await explaining;
    expect(told.nodeAnswer).toBe('it did not answer within 2 s');
    expect(said(told)).toBe('is ONLINE by its last report.');
    gate.open();
  });

  it('tells of a broken file: of one in force, and of a name that only it declares', async () => {
    await plane.addNode('alpha');
    await plane.putConfiguration(LOBBY);
    await settle();
    const fault = { line: 7, column: 3, field: 'ramMB', message: 'ramMB: must be a whole number' };
    fileErrors.push({ file: 'lobby.json', name: 'lobby', ...fault });
    fileErrors.push({ file: 'new.json', line: 2, column: 1, field: null, message: 'not valid JSON: so' });
    expect(await whyAll()).toMatchObject({
      verdict: 'lobby is as it should be: 1 instance ONLINE, 1 asked for, but lobby.json is broken.',
      isInForce: true,
      isSettled: false,
    });
    expect((await whyOne()).notes).toEqual([
      'lobby.json is broken at line 7: ramMB: must be a whole number. What it said before stays in force.',
    ]);
    expect(await whyAll('new')).toMatchObject({
      verdict: 'new is not in force: new.json at line 2 is broken: not valid JSON: so.',
      isInForce: false,
      minimum: null,
      instances: [],
    });
  });

  it('notes instances of an older content, and a configuration that was removed', async () => {
    await plane.addNode('alpha');
    await plane.putConfiguration(LOBBY);
    await settle();
    await plane.putConfiguration({ ...LOBBY, command: 'run --better' });
    await settle();
    expect(await whyOne()).toMatchObject({ isRevisionCurrent: false, isSettled: true });
    expect((await whyAll()).notes).toEqual([
      '1 instance is made from an older content (`config diff lobby`) and keeps it: `instance update <id>` gives an instance what is in force, in place.',
    ]);
    await plane.removeConfiguration('lobby');
    await settle();
    expect((await whyOne()).notes).toEqual([
      'Its configuration lobby was removed: nothing replaces this instance.',
    ]);
    expect(await whyAll()).toMatchObject({
      verdict: 'lobby was removed: 1 instance of it is left.',
      isInForce: false,
      isSettled: false,
    });
    for (const id of idsOf('lobby')) await plane.master.writer.remove(id);
    await settle();
    await expect(explainer.configuration('lobby')).rejects.toSatisfy((error) =>
      DroverError.is(error, 'DRV_CONFIGURATION_UNKNOWN'),
    );
  });

  it('lists a hundred of many instances, those in trouble first', async () => {
    const node = await plane.addNode('alpha');
    await plane.putConfiguration({ ...LOBBY, minimumServiceCount: 130 });
    await clock.advance(3000);
    const last = idsOf('lobby').at(-1);
    crash(node, last);
    crash(node, last);
    await clock.advance(5);
    crash(node, last);
    await clock.advance(100);
    const all = await whyAll();
    expect(all).toMatchObject({ instancesTotal: 130, online: 129, isSettled: false });
    expect(all.instances).toHaveLength(100);
    expect(all.instances[0]).toMatchObject({ instanceId: last, state: 'OFFLINE', isSettled: false });
    expect(renderConfigurationExplanation(all)).toContain('\n  and 30 more\n');
  });

  it('knows nothing of an instance that is being removed, nor of one that never was', async () => {
    const node = await plane.addNode('alpha');
    await plane.putConfiguration({ ...LOBBY, minimumServiceCount: 0 });
    const { id } = await plane.master.led().controllers.creations.create('lobby');
    await settle();
    node.runtime.stubborn.add(id);
    await plane.master.writer.remove(id);
    for (const unknown of [id, 'zzzzzz', '../etc'])
      await expect(explainer.instance(unknown)).rejects.toSatisfy((error) =>
        DroverError.is(error, 'DRV_INSTANCE_UNKNOWN'),
      );
  });
});

describe('the routes of why', () => {
  let world: ApiWorld;
  beforeEach(async () => {
    world = await new ApiWorld().start();
  });
  afterEach(() => world.stop());

  const get = (url: string) =>
    world.server.inject({ url: `/api${url}`, headers: { authorization: `Bearer ${world.admin}` } });

  it('answer with the explanation', async () => {
    await world.addConfiguration('hello');
    await world.putInstance(instanceRecord({ id: 'abc123' }));
    const one = await get('/instances/abc123/why');
    expect(one.statusCode).toBe(200);
    expect(instanceExplanationSchema.parse(one.json())).toMatchObject({
      instanceId: 'abc123',
      nodeAnswer: 'node n1 is not connected',
    });
    const all = await get('/configurations/hello/why');
    expect(all.statusCode).toBe(200);
    expect(configurationExplanationSchema.parse(all.json())).toMatchObject({ configurationName: 'hello' });
  });

  it('answer 404 for what is not there, and repeat only what is a name', async () => {
    const instance = 'DRV_INSTANCE_UNKNOWN';
    const configuration = 'DRV_CONFIGURATION_UNKNOWN';
    for (const [url, code, error] of [
      ['/instances/zzzzzz/why', instance, 'there is no instance "zzzzzz": "instance list" shows all'],
      ['/instances/%3Cscript%3E/why', instance, 'there is no such instance: "instance list" shows all'],
      [
        '/configurations/none/why',
        configuration,
        'there is no configuration "none": "config list" shows all',
      ],
      [
        '/configurations/..%2Fx/why',
        configuration,
        'there is no such configuration: "config list" shows all',
      ],
    ]) {
      const answer = await get(String(url));
      expect([answer.statusCode, answer.json()]).toEqual([404, { error, code }]);
    }
  });

  it('are closed without an ALL key', async () => {
    const key = await world.addKey('public', 'PUBLIC');
    const answer = await world.server.inject({
      url: '/api/instances/abc123/why',
      headers: { authorization: `Bearer ${key}` },
    });
    expect(answer.statusCode).toBe(401);
  });
});
