/** When a process counts as ready: what is said until then, what is looked at, and what a new daemon makes of it. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ConfigurationInput } from '../../../src/model/configuration.js';
import { DroverError } from '../../../src/model/errors.js';
import type { InstanceRecord } from '../../../src/model/instance.js';
import { FakeNodeLogs, withLogs } from '../../support/api/fake-node-logs.js';
import { ControlPlane, EVENTS_WRITTEN_MS, type TestNode } from '../../support/control-plane/control-plane.js';
import { FakeClock } from '../../support/fake-clock.js';
import { metricsText } from '../../support/metrics-text.js';
import { until } from '../../support/until.js';

const SERVICE = { name: 'lobby', runtime: 'process', command: 'run', ramMB: 100, cpu: 10 };
const DONE = { readiness: { logLine: 'Done (*)!' } } as const;
const WAITING = 'CREATING starting waiting for a log line with "Done (*)!", up to 60 s';

let clock: FakeClock;
let logs: FakeNodeLogs;
let plane: ControlPlane;
let node: TestNode;

beforeEach(async () => {
  clock = new FakeClock();
  logs = new FakeNodeLogs();
  plane = new ControlPlane({ clock, adaptInstallation: (installation) => withLogs(installation, logs) });
  await plane.start();
  node = await plane.addNode('alpha');
});

afterEach(async () => {
  await plane.stop();
  expect(logs.open).toBe(0);
});

const settle = (): Promise<void> => clock.advance(200);
const one = (): InstanceRecord['status'] | undefined => plane.records()[0]?.status;
const said = (): string => `${one()?.state} ${one()?.reason ?? '-'} ${one()?.message ?? '-'}`;
const metric = async (): Promise<string | undefined> =>
  (await metricsText(plane.metrics))
    .split('\n')
    .find((line) => line.startsWith('drover_instance_not_ready_total{'));

async function started(configuration: Partial<ConfigurationInput> = DONE): Promise<string> {
  await plane.putConfiguration({ ...SERVICE, ...configuration });
  await settle();
  return node.runtime.alive[0] ?? '';
}

describe('an instance with readiness', () => {
  it('is CREATING until the line is there, says what it waits for, and is looked at no more', async () => {
    const id = await started();
    expect(said()).toBe(WAITING);
    expect(one()?.pid).not.toBeNull();
    logs.write(id, 'Done loading', 'Done (4.2 s)', '\u001b[32mDone\u001b[0m (4.2 s)! For help, type "help"');
    await settle();
    expect(said()).toBe('ONLINE - -');
    expect(logs.open).toBe(0);
    await clock.advance(EVENTS_WRITTEN_MS);
    const revision = await plane.store.barrier();
    await clock.advance(120_000);
    expect([await plane.store.barrier(), logs.opened.length]).toEqual([revision, 1]);
  });

  it('writes nothing while it waits', async () => {
    await started();
    await clock.advance(EVENTS_WRITTEN_MS);
    const revision = await plane.store.barrier();
    await clock.advance(48_000);
    expect(await plane.store.barrier()).toBe(revision);
  });

  it('is not ended when it is late, which is said and counted, and becomes ONLINE all the same', async () => {
    const id = await started();
    await clock.advance(60_000);
    expect(said()).toBe(
      'CREATING not-ready not ready after 60 s: still waiting for a log line with "Done (*)!"',
    );
    expect(await metric()).toBe('drover_instance_not_ready_total{configuration="lobby"} 1');
    await clock.advance(300_000);
    expect([node.runtime.signals, node.runtime.starts.length, plane.records().length]).toEqual([[], 1, 1]);
    logs.write(id, 'Done (1)!');
    await settle();
    expect(said()).toBe('ONLINE - -');
  });

  it('is OFFLINE after a crash until it is ready again, and lines of before do not count', async () => {
    const id = await started();
    logs.write(id, 'Done (1)!');
    await settle();
    node.runtime.end(id, { code: 1, signal: null });
    await settle();
    expect(node.runtime.alive).toEqual([id]);
    expect(said()).toBe('OFFLINE starting waiting for a log line with "Done (*)!", up to 60 s');
    logs.write(id, 'Done (2)!');
    await settle();
    expect([said(), one()?.restarts]).toEqual(['ONLINE - -', 1]);
  });

  it('is CREATING after a restart that was asked for', async () => {
    const id = await started();
    logs.write(id, 'Done (1)!');
    await settle();
    await plane.master.writer.setLifecycle(id, 'restart');
    await settle();
    expect(said()).toBe(WAITING);
  });

  it('is stopped as ever while it waits', async () => {
    const id = await started();
    await plane.putConfiguration({ ...SERVICE, ...DONE, minimumServiceCount: 0 });
    await plane.master.writer.setLifecycle(id, 'stop');
    await settle();
    expect(said()).toBe('STOPPED stopped ended by SIGTERM');
    expect(logs.open).toBe(0);
  });

  it('stays ONLINE under a new daemon, without another look', async () => {
    const id = await started();
    logs.write(id, 'Done (1)!');
    await settle();
    await plane.replaceWrapper(node);
    await clock.advance(5000);
    expect([said(), logs.opened.length]).toEqual(['ONLINE - -', 1]);
  });

  it('is looked at again by a new daemon, from the first line of its run on', async () => {
    const id = await started();
    logs.write(id, 'loading');
    await settle();
    await node.wrapper.stop();
    logs.write(id, 'Done (3)!', 'a player came');
    await plane.replaceWrapper(node);
    await clock.advance(5000);
    expect(said()).toBe('ONLINE - -');
    expect(logs.opened).toEqual([{ since: 1 }, { since: 1 }]);
  });

  it('stays late under a new daemon', async () => {
    await started();
    await clock.advance(61_000);
    await plane.replaceWrapper(node);
    await clock.advance(5000);
    expect(said()).toContain('not ready after 60 s');
    expect(await metric()).toBe('drover_instance_not_ready_total{configuration="lobby"} 1');
  });

  it('is ONLINE when it says so itself, whatever its node still waits for', async () => {
    const id = await started();
    await plane.master.writer.reportState(id, { state: 'ONLINE', players: 2 });
    await clock.advance(61_000);
    expect(said()).toBe('ONLINE reported reported ONLINE by the instance or a tool');
    // That was said of the process that is gone.
    node.runtime.end(id, { code: 1, signal: null });
    await settle();
    expect(one()?.state).toBe('OFFLINE');
  });
});

describe('an instance with readiness at its port', () => {
  let server: Server;

  beforeEach(() => {
    server = createServer((request, response) => {
      const status = request.url === '/health?deep=1' ? 302 : 503;
      response.writeHead(status, { location: 'http://192.0.2.1/' }).end('x'.repeat(100_000));
    });
  });

  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  /** Real sockets answer in their own time, which the clock does not know. */
  const eventually = (state: unknown): Promise<void> =>
    until(async () => {
      await clock.advance(1000);
      expect(said()).toEqual(state);
    });
  const listen = async (host: string): Promise<number> => {
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    const address: AddressInfo | string | null = server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  };

  it('is ONLINE when the port accepts connections', async () => {
    const port = await listen('127.0.0.1');
    await new Promise((resolve) => server.close(resolve));
    await started({ readiness: { tcpPort: port } });
    await clock.advance(3000);
    expect(said()).toBe(`CREATING starting waiting for TCP port ${port} to accept connections, up to 60 s`);
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    await eventually('ONLINE - -');
  });

  it('is ONLINE when its own port answers a GET with a redirect, which is not followed', async () => {
    const port = await listen('127.0.0.1');
    await started({
      availablePorts: { min: port, max: port },
      readiness: { httpGet: { path: '/health?deep=1' } },
    });
    await eventually('ONLINE - -');
  });

  it('is not ONLINE with another answer', async () => {
    const port = await listen('127.0.0.1');
    await started({ readiness: { httpGet: { path: '/other', port }, timeoutSeconds: 5 } });
    await eventually(
      expect.stringMatching(
        /^CREATING not-ready not ready after 5 s: still waiting for GET \/other on port \d+/,
      ),
    );
  });
});

describe('a runtime whose tool goes and comes back', () => {
  const offered = (): boolean | undefined =>
    plane.master.state.nodes.get('alpha')?.value.runtimes.find(({ key }) => key === 'process')?.available;

  it('is no longer offered as soon as a start fails for that, and offered again without a restart', async () => {
    const { runtime } = node;
    const start = runtime.start.bind(runtime);
    runtime.isAvailable = false;
    runtime.start = async () => {
      throw new DroverError('DRV_RUNTIME_UNAVAILABLE', 'the tool is gone');
    };
    await started({});
    expect(offered()).toBe(false);
    expect(said()).toContain('CREATING runtime-unavailable');
    runtime.isAvailable = true;
    runtime.start = start;
    await clock.advance(31_000);
    expect([offered(), said()]).toEqual([true, 'ONLINE - -']);
  });

  it('starts what ends after it came back at once, though the node last saw it gone', async () => {
    const { runtime } = node;
    const id = await started({});
    runtime.isAvailable = false;
    await clock.advance(31_000);
    expect([offered(), said()]).toEqual([false, 'ONLINE - -']);
    runtime.isAvailable = true;
    runtime.end(id, { code: 1, signal: null });
    await clock.advance(3000);
    expect([offered(), said()]).toEqual([true, 'ONLINE - -']);
  });

  it('is not placed on a node that does not offer it', async () => {
    node.runtime.isAvailable = false;
    await clock.advance(31_000);
    expect(offered()).toBe(false);
    await started({});
    expect(said()).toContain('1 does not offer runtime process');
    node.runtime.isAvailable = true;
    await clock.advance(31_000);
    expect(said()).toBe('ONLINE - -');
  });
});
