/** Runtimes that extensions bring: used like Drover's own, and kept from doing harm when they fail. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SystemClock } from '../../../src/loop/system-clock.js';
import { messageOf } from '../../../src/model/errors.js';
import type { Runtime } from '../../../src/runtime/runtime.js';
import { ControlPlane } from '../../support/control-plane/control-plane.js';
import { FakeRuntime } from '../../support/control-plane/fake-runtime.js';
import { FakeClock } from '../../support/fake-clock.js';
import { ExtensionWorld } from '../../support/templates/extension-world.js';
import { until } from '../../support/until.js';

const RUN = { instanceId: 'abc123', run: 1 };
const SPEC = { ...RUN, command: 'x', workingDirectory: '/', environment: {}, ramMB: 1, cpu: 1 };

let world: ExtensionWorld;

beforeEach(() => {
  world = new ExtensionWorld();
});

afterEach(() => world.stop());

/** The runtime as the wrapper gets it, of an extension that registers `inner`. */
async function registered(inner: object, clock?: FakeClock): Promise<Runtime> {
  Reflect.set(globalThis, 'droverTestRuntime', inner);
  world.extension('a', 'context.registerRuntime(globalThis.droverTestRuntime);');
  const [runtime] = (await world.start(clock === undefined ? {} : { clock })).runtimes();
  if (runtime === undefined) throw new Error(`not registered: ${world.status('a')?.error}`);
  return runtime;
}

function withMethods(methods: object): FakeRuntime {
  return Object.assign(new FakeRuntime('plain'), methods);
}

describe('a runtime of an extension', () => {
  it('runs instances of configurations that name it', async () => {
    const inner = new FakeRuntime('plain');
    const runtime = await registered(inner);
    const plane = new ControlPlane({ clock: new SystemClock(), moreRuntimes: [runtime] });
    await plane.start();
    const node = await plane.addNode('node1');
    await plane.putConfiguration({ name: 'lobby', command: 'run', runtime: 'plain', minimumServiceCount: 1 });
    await until(() => expect(plane.describe()).toEqual(['lobby ONLINE - node1:-']));
    expect(node.runtime.starts).toEqual([]);
    const [record] = plane.records();
    inner.end(record?.id ?? '', { code: 1, signal: null });
    await until(() => {
      expect(inner.starts).toHaveLength(2);
      expect(plane.describe()).toEqual(['lobby ONLINE - node1:-']);
    });
    await plane.stop();
  });

  it('is not offered while its probe fails, and the node starts and stops all the same', async () => {
    const boom = (): never => {
      throw new Error('no licence');
    };
    const runtime = await registered(
      withMethods({ probe: boom, adopt: boom, onExit: boom, onLost: boom, release: boom }),
    );
    const plane = new ControlPlane({ clock: new SystemClock(), moreRuntimes: [runtime] });
    await plane.start();
    await plane.addNode('node1');
    await plane.putConfiguration({ name: 'lobby', command: 'run', runtime: 'plain', minimumServiceCount: 1 });
    await until(() => {
      const [record] = plane.records();
      expect(record?.status).toMatchObject({
        reason: 'no-node-fits',
        message: expect.stringContaining('does not offer runtime plain'),
      });
    });
    const offers = plane.master.state.nodes.get('node1')?.value.runtimes;
    expect(offers).toContainEqual({
      key: 'plain',
      available: false,
      version: null,
      reason: 'runtime plain: no licence',
    });
    await plane.stop();
    expect(world.log).toContain('error: extension a: no licence');
  });

  it('is waited for in bounds', async () => {
    const clock = new FakeClock();
    const hang = (): Promise<never> => new Promise(() => {});
    const runtime = await registered(withMethods({ probe: hang, start: hang, release: hang }), clock);
    const probing = runtime.probe();
    await clock.advance(10_000);
    expect(await probing).toMatchObject({
      available: false,
      reason: 'runtime plain did not answer probe within 10 s',
    });
    const starting = runtime.start(SPEC).catch((error: unknown) => error);
    await clock.advance(60_000);
    expect(await starting).toMatchObject({ code: 'DRV_RUNTIME_UNAVAILABLE' });
    const releasing = runtime.release();
    await clock.advance(5000);
    await releasing;
  });

  it('cannot hand over what is no process, no exit and no answer', async () => {
    const runtime = await registered(
      withMethods({
        start: async () => ({ pid: 'many' }),
        adopt: async () => [{ instanceId: 5 }],
        isGroupGone: () => 'yes',
        onExit: (listener: (run: unknown, exit: unknown) => void) => {
          listener({ instanceId: 'abc123', run: 1 }, { code: 'bad' });
          return () => undefined;
        },
      }),
    );
    await expect(runtime.start(SPEC)).rejects.toThrow(/^runtime plain: its answer to start is not valid: /);
    await expect(runtime.adopt()).rejects.toThrow('its answer to adopt is not valid: 0');
    expect(runtime.isGroupGone(RUN)).toBe(false);
    const exits: unknown[] = [];
    runtime.onExit((run) => exits.push(run));
    expect(exits).toEqual([]);
    expect(world.status('a')?.error).toMatch(/^it reported an invalid exit/);
  });

  it("passes Drover's error codes on, and calls others a failed start", async () => {
    const coded = Object.assign(new Error('its input is full'), { code: 'DRV_STDIN_FULL' });
    const runtime = await registered(
      withMethods({
        write: async () => {
          throw coded;
        },
        start: async () => {
          throw new Error('no image');
        },
      }),
    );
    await expect(runtime.write(RUN, Buffer.from('x'))).rejects.toMatchObject({ code: 'DRV_STDIN_FULL' });
    const failure = await runtime.start(SPEC).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'DRV_RUNTIME_START_FAILED' });
    expect(messageOf(failure)).toBe('runtime plain: no image');
  });

  it.each(['process', 'screen', 'tmux', 'docker', '../x'])('cannot be called %s', async (key) => {
    await expect(registered(new FakeRuntime(key))).rejects.toThrow(/not registered: runtime /);
  });
});
