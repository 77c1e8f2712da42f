/** Starts and templates: what a node does when a template changed, and its master or a storage cannot be asked. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { InstanceRecord } from '../../../src/model/instance.js';
import { Gate, GatedTransport } from '../../support/cluster/gated-transport.js';
import { ControlPlane, type TestNode } from '../../support/control-plane/control-plane.js';
import { FakeCache, FakeTemplates } from '../../support/control-plane/fake-templates.js';
import { FakeClock } from '../../support/fake-clock.js';

const SERVICE = {
  name: 'lobby',
  runtime: 'process',
  command: 'run',
  ramMB: 100,
  cpu: 10,
  minimumServiceCount: 0,
  templateInstallationConfig: { allOf: [{ group: 'games', name: 'lobby' }] },
};

let clock: FakeClock;
let templates: FakeTemplates;
let cache: FakeCache;
let gate: Gate;
let plane: ControlPlane;
let node: TestNode;
let isMasterAway: boolean;

beforeEach(async () => {
  clock = new FakeClock();
  templates = new FakeTemplates();
  templates.put('lobby', 'one');
  cache = new FakeCache();
  gate = new Gate();
  isMasterAway = false;
  plane = new ControlPlane({
    clock,
    templates,
    adaptInstallation: (installation) => cache.adapt(installation),
    adaptTransport: (transport) => {
      const gated = new GatedTransport(transport, gate);
      if (isMasterAway) gated.sever();
      return gated;
    },
  });
  await plane.start();
  node = await plane.addNode('alpha');
  await plane.putConfiguration(SERVICE);
  await create('lobby');
  expect(cache.installs).toEqual(['one']);
});

afterEach(() => plane.stop());

const settle = (): Promise<void> => clock.advance(1000);

async function create(name: string): Promise<void> {
  await plane.master.led().controllers.creations.create(name);
  await settle();
}

function record(): InstanceRecord {
  return plane.records()[0] ?? expect.fail('there is no instance');
}

function leaveMaster(): void {
  isMasterAway = true;
  gate.reset();
}

async function findMaster(): Promise<void> {
  isMasterAway = false;
  // The longest pause before the next try to connect.
  await clock.advance(3000);
}

async function crash(): Promise<void> {
  node.runtime.end(record().id, { code: 1, signal: null });
  await settle();
}

describe('a crash while the master is away and a template has changed', () => {
  it('is restarted with the changed template, which the node fetched as soon as it heard of it', async () => {
    templates.put('lobby', 'two');
    await settle();
    expect(cache.fetches).toEqual(['one came', 'two came']);
    expect(node.runtime.starts).toHaveLength(1);
    leaveMaster();
    await crash();
    expect(cache.installs).toEqual(['one', 'two']);
    expect(node.runtime.alive).toEqual([record().id]);
  });

  it('is restarted at once with the templates of its last install where the changed ones never came, and says so', async () => {
    templates.hold = () => new Promise(() => {});
    templates.put('lobby', 'two');
    await settle();
    leaveMaster();
    await crash();
    expect(cache.installs).toEqual(['one', 'one']);
    expect(node.runtime.alive).toEqual([record().id]);
    templates.hold = async () => {};
    await findMaster();
    await settle();
    expect(record().status).toMatchObject({
      state: 'ONLINE',
      reason: null,
      message: expect.stringMatching(/files of its last install.*games\/lobby.*not connected/),
    });
    // The changed template is here by now, for the next start.
    expect(cache.contents).toEqual(['one', 'two']);
    await crash();
    await settle();
    expect(cache.installs.at(-1)).toBe('two');
    expect(record().status).toMatchObject({ state: 'ONLINE', message: null });
  });

  it('is restarted at once beside any number of fetches that hang', async () => {
    templates.hold = (content) => (content === 'one' ? Promise.resolve() : new Promise(() => {}));
    const names = ['a', 'b', 'c', 'd', 'e'];
    for (const name of names) {
      templates.put(name, `new ${name}`);
      const allOf = [{ group: 'games', name }];
      await plane.putConfiguration({ ...SERVICE, name, templateInstallationConfig: { allOf } });
      await create(name);
    }
    const lobby = plane.records().find(({ configurationName }) => configurationName === 'lobby');
    node.runtime.end(lobby?.id ?? '', { code: 1, signal: null });
    await settle();
    expect(cache.installs).toEqual(['one', 'one']);
    expect(node.runtime.alive).toEqual([lobby?.id]);
  });

  it('is so also after a restart of the node, and what it last installed stays in its cache', async () => {
    templates.hold = () => new Promise(() => {});
    templates.put('lobby', 'two');
    await settle();
    leaveMaster();
    await plane.replaceWrapper(node);
    expect(
      [...node.wrapper.inUse().digests].map((digest) => Buffer.from(digest, 'hex').toString()[0]),
    ).toContain('o');
    await crash();
    expect(cache.installs).toEqual(['one', 'one']);
    expect(node.runtime.alive).toEqual([record().id]);
  });

  it('is so for a template that the master has no longer', async () => {
    templates.remove('lobby');
    await settle();
    await crash();
    expect(cache.installs).toEqual(['one', 'one']);
    expect(record().status).toMatchObject({
      state: 'ONLINE',
      message: expect.stringContaining('the master has no usable templates/games/lobby'),
    });
  });
});

describe('a restart that an operator asked for', () => {
  it('waits for the changed template, and starts at once when the connection is back', async () => {
    templates.hold = () => new Promise(() => {});
    templates.put('lobby', 'two');
    await settle();
    await plane.master.writer.setLifecycle(record().id, 'restart');
    await settle();
    leaveMaster();
    await clock.advance(120_000);
    expect(cache.installs).toEqual(['one']);
    expect(node.runtime.alive).toEqual([]);
    const { length } = cache.fetches;
    templates.hold = async () => {};
    await findMaster();
    expect(cache.fetches.slice(length)).toEqual(['two came']);
    expect(cache.installs).toEqual(['one', 'two']);
    expect(node.runtime.alive).toEqual([record().id]);
  });

  it('says that it waits for the master, without a delay of its own', async () => {
    templates.hold = () => new Promise(() => {});
    templates.put('lobby', 'two');
    await settle();
    await plane.master.writer.setLifecycle(record().id, 'restart');
    await settle();
    leaveMaster();
    await clock.advance(30_000);
    const [instance] = node.wrapper.status().instances;
    expect(instance?.message).toBe(
      'template games/lobby cannot be fetched: the master is not connected; Drover fetches it when the connection is back',
    );
  });

  it('is tried at once when the template that could not be had changes again', async () => {
    templates.hold = async (content) => {
      if (content !== 'three') throw new Error('out of order');
    };
    templates.put('lobby', 'two');
    await settle();
    await plane.master.writer.setLifecycle(record().id, 'restart');
    await clock.advance(60_000);
    expect(node.runtime.alive).toEqual([]);
    templates.put('lobby', 'three');
    await clock.advance(100);
    expect(cache.installs).toEqual(['one', 'three']);
    expect(node.runtime.alive).toEqual([record().id]);
  });
});

describe('what is fetched ahead of need', () => {
  it('is fetched one tree at a time, after what an instance waits for', async () => {
    const under: string[] = [];
    let release = (): void => {};
    templates.hold = async (content) => {
      under.push(content);
      if (content !== 'needed') await new Promise<void>((resolve) => (release = resolve));
    };
    templates.put('lobby', 'two');
    templates.put('other', 'needed');
    await plane.putConfiguration({
      ...SERVICE,
      name: 'other',
      templateInstallationConfig: { allOf: [{ group: 'games', name: 'other' }] },
    });
    await create('other');
    expect(under.toSorted()).toEqual(['needed', 'two']);
    templates.put('lobby', 'three');
    templates.put('lobby', 'four');
    await settle();
    expect(under).toHaveLength(2);
    release();
    await settle();
    // Nobody wants `three` any more.
    expect(under.at(-1)).toBe('four');
    release();
    await settle();
    expect(cache.contents).toEqual(expect.arrayContaining(['one', 'needed', 'four']));
  });

  it('is tried again after a failure, ever later, and at once when the connection is back', async () => {
    templates.hold = async () => {
      throw new Error('the disk is full');
    };
    templates.put('lobby', 'two');
    await clock.advance(60_000);
    const tries = cache.fetches.length - 1;
    expect(tries).toBeGreaterThan(2);
    expect(tries).toBeLessThan(12);
    templates.hold = async () => {};
    leaveMaster();
    await clock.advance(1000);
    await findMaster();
    expect(cache.contents).toEqual(['one', 'two']);
  });
});

describe('a directory that was made and waits for its start', () => {
  it('is made anew when a template changes before the start', async () => {
    await plane.putConfiguration({ ...SERVICE, name: 'busy', availablePorts: { min: 30_000, max: 30_000 } });
    node.foreignPorts.add(30_000);
    await create('busy');
    const { length } = cache.installs;
    templates.put('lobby', 'two');
    await settle();
    node.foreignPorts.clear();
    await clock.advance(10_000);
    expect(cache.installs.slice(length)).toEqual(['two']);
    expect(node.runtime.alive).toHaveLength(2);
  });
});

describe('while a storage is asked for a newer version', () => {
  it('a crash is restarted with what is there, and a restart that was asked for waits', async () => {
    templates.look('lobby', 'template games/lobby of storage main is being compared with the latest version');
    await settle();
    await crash();
    expect(cache.installs).toEqual(['one', 'one']);
    expect(record().status).toMatchObject({ state: 'ONLINE', message: null });
    await plane.master.writer.setLifecycle(record().id, 'restart');
    await settle();
    expect(node.runtime.alive).toEqual([]);
    expect(record().status).toMatchObject({
      reason: 'template-missing',
      message: 'template games/lobby of storage main is being compared with the latest version',
    });
    templates.look('lobby', undefined);
    await settle();
    expect(cache.installs).toEqual(['one', 'one', 'one']);
    expect(node.runtime.alive).toEqual([record().id]);
  });
});
