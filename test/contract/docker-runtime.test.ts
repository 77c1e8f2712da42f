/**
 * The docker runtime keeps the contract of all runtimes, on a Docker Engine that this file starts. It also tests
 * what only containers have: images, networks, the engine's limits, and an engine that goes away.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { DockerRuntime } from '../../src/runtime/docker/docker-runtime.js';
import { ExitWatch } from '../support/exit-watch.js';
import { freePorts } from '../support/free-ports.js';
import { REPOSITORY } from '../support/repository-root.js';
import { type ContainerEngine, IMAGE, startEngine } from '../support/runtime/docker-engine.js';
import { DockerWorld } from '../support/runtime/docker-world.js';
import { FakeRegistry } from '../support/runtime/fake-registry.js';
import { until } from '../support/until.js';
import { testAttach } from './attach-contract.js';
import { testRuntime } from './runtime-contract.js';

const DAEMON = join(REPOSITORY, 'build/test/support/runtime/docker-daemon.js');
/** The engine is started first: only then is it known whether the tests can run. */
const started = await startEngine();
const reason = typeof started === 'string' ? started : undefined;

describe.skipIf(reason !== undefined)(
  `on a Docker Engine${reason === undefined ? '' : ` (skipped: ${reason})`}`,
  () => {
    let engine: ContainerEngine;
    beforeAll(() => {
      if (typeof started !== 'string') engine = started;
    });
    afterAll(() => engine.close());

    testAttach(() => new DockerWorld(engine), { isTransparent: true });
    testRuntime('docker', () => new DockerWorld(engine), {
      hasPids: false,
      signalsGroup: false,
      addedVariables: ['HOSTNAME', 'HOME', 'SHLVL'],
    });

    describe('containers', () => {
      let world: DockerWorld;
      let runtime: DockerRuntime;
      let exits: ExitWatch;
      beforeEach(() => {
        world = new DockerWorld(engine);
        runtime = world.runtime();
        exits = new ExitWatch(runtime);
      });
      afterEach(() => world.close());

      const inspect = async (id = '') => engine.inspect(id || ((await world.containers())[0] ?? ''));

      it('carries labels, limits and the working directory, and is removed when its exit was acknowledged', async () => {
        const spec = world.spec('aaaaaa', 'pwd; touch made-inside; exec sleep 60', { ramMB: 32, cpu: 50 });
        const { containerId } = await runtime.start(spec);
        const { Config, HostConfig } = await inspect(containerId);
        expect(Config.Labels).toMatchObject({
          'drover.root': world.rootId,
          'drover.instance': 'aaaaaa',
          'drover.run': '1',
        });
        expect(HostConfig).toMatchObject({
          Memory: 32 * 1024 * 1024,
          MemorySwap: 32 * 1024 * 1024,
          CpuPeriod: 100_000,
          CpuQuota: 50_000,
          Init: true,
          NetworkMode: 'host',
          LogConfig: { Type: 'json-file', Config: { 'max-size': '8388608', 'max-file': '4' } },
        });
        await until(async () => expect(await world.lines('aaaaaa')).toEqual(['/data']));
        expect(statSync(join(world.workingDirectory, 'made-inside')).isFile()).toBe(true);
        await runtime.signal(spec, 'SIGTERM');
        expect(await exits.until(spec)).toMatchObject({ code: null, signal: 'SIGTERM' });
        await runtime.acknowledge(spec);
        expect(await world.containers()).toEqual([]);
        expect(await runtime.list()).toEqual([]);
      });

      it('tells a kill by the memory limit, and measures what it uses before', async () => {
        const spec = world.spec('aaaaaa', 'read -r go; exec tail /dev/zero');
        await runtime.start(spec);
        const usage = (await runtime.usage([spec])).get('aaaaaa/1');
        expect(usage?.processes).toBeGreaterThan(0);
        expect(usage?.memoryBytes).toBeGreaterThan(0);
        expect(usage?.cpuSeconds).toBeGreaterThan(0);
        await runtime.write(spec, Buffer.from('go\n'));
        expect(await exits.until(spec)).toMatchObject({ code: null, signal: 'SIGKILL', isOutOfMemory: true });
        expect(await runtime.usage([spec])).toEqual(new Map());
      });

      it('keeps both streams in their order, as they come', async () => {
        const spec = world.spec(
          'aaaaaa',
          'while read -r n; do echo "out $n"; read -r n; echo "err $n" >&2; done',
        );
        await runtime.start(spec);
        const said: string[] = [];
        for (let n = 0; n < 6; n++) {
          said.push(`${n % 2 === 0 ? 'out' : 'err'} ${n}`);
          await runtime.write(spec, Buffer.from(`${n}\n`));
          await until(async () => expect(await world.lines('aaaaaa')).toEqual(said));
        }
      });

      it('publishes the port of the instance, on a network of the engine', async () => {
        const port = await freePorts(1);
        const dockerNetwork = `drover-${world.rootId}`;
        await engine.ask('POST', '/networks/create', { Name: dockerNetwork });
        try {
          const properties = { image: IMAGE, dockerNetwork };
          const command = `echo hello >index.html; exec httpd -f -p ${port}`;
          const spec = world.spec('aaaaaa', command, { port, properties });
          await runtime.start(spec);
          const page = await until(async () => (await fetch(`http://127.0.0.1:${port}/`)).text());
          expect(page).toBe('hello\n');
          expect(Object.keys((await inspect()).HostConfig.PortBindings).sort()).toEqual([
            `${port}/tcp`,
            `${port}/udp`,
          ]);
          await runtime.signal(spec, 'SIGKILL');
          await exits.until(spec);
        } finally {
          await engine.ask('DELETE', `/networks/${dockerNetwork}`);
        }
      });

      it('refuses what cannot be, and leaves nothing behind', async () => {
        const starts: [string, Record<string, string>, RegExp][] = [
          ['no image', {}, /properties\.image or environmentVariables\.CUSTOM_IMAGE/],
          [
            'an image that is not there',
            { image: 'nosuch', dockerPull: 'never' },
            /nosuch:latest is not on this node/,
          ],
          ['an unknown network', { image: IMAGE, dockerNetwork: 'nosuch' }, /no network nosuch/],
          [
            'the default network of an engine that has none',
            { image: IMAGE, dockerNetwork: 'bridge' },
            /no network/,
          ],
          ['an unknown user', { image: IMAGE, dockerUser: 'nosuch' }, /refuses: .*nosuch/],
        ];
        for (const [what, properties, message] of starts)
          await expect(
            runtime.start(world.spec('aaaaaa', 'true', { properties })),
            what,
          ).rejects.toMatchObject({
            code: 'DRV_RUNTIME_START_FAILED',
            message: expect.stringMatching(message),
          });
        expect(await world.containers()).toEqual([]);
        expect(await runtime.list()).toEqual([]);
      });

      it('says that a container was removed by hand, also when that was while no daemon was there', async () => {
        const first = world.spec('aaaaaa', 'exec sleep 60');
        const second = world.spec('bbbbbb', 'exec sleep 60');
        const [one, two] = [await runtime.start(first), await runtime.start(second)];
        await engine.remove(one.containerId);
        expect(await exits.until(first)).toMatchObject({ cause: 'its container was removed' });
        await runtime.release();
        await engine.remove(two.containerId);
        const next = world.runtime();
        expect(await next.adopt()).toMatchObject([
          { instanceId: 'aaaaaa', exit: { cause: 'its container was removed' } },
          { instanceId: 'bbbbbb', exit: { code: null, signal: null, cause: 'its container was removed' } },
        ]);
      });

      it('never touches a container of another root, or of nobody', async () => {
        const other = new DockerWorld(engine);
        try {
          const { containerId } = await other.runtime().start(other.spec('aaaaaa', 'exec sleep 60'));
          const foreign = await engine.run({ Cmd: ['sleep', '60'], HostConfig: { NetworkMode: 'host' } });
          const spec = world.spec('aaaaaa', 'exec sleep 60');
          await runtime.start(spec);
          await runtime.signal(spec, 'SIGKILL');
          await exits.until(spec);
          await runtime.acknowledge(spec);
          expect((await inspect(containerId)).State.Running).toBe(true);
          expect((await inspect(foreign)).State.Running).toBe(true);
          await engine.remove(foreign);
        } finally {
          await other.close();
        }
      });

      it('pulls an image with progress, and stops pulling when the start is not wanted any more', async () => {
        const registry = await FakeRegistry.start();
        try {
          registry.isHolding = true;
          const said: string[] = [];
          const stop = new AbortController();
          const properties = { image: registry.image };
          const more = { properties, onProgress: (text: string) => said.push(text), signal: stop.signal };
          const started = runtime.start(world.spec('aaaaaa', 'true', more)).catch((error: unknown) => error);
          await until(() =>
            expect(said.at(-1)).toMatch(
              /^pulling image 127\.0\.0\.1:\d+\/games\/world:1: \d+ %, [\d.]+ of 4\.0 MB$/,
            ),
          );
          expect(said[0]).toBe(`pulling image ${registry.image}`);
          stop.abort();
          expect(await started).toMatchObject({ name: 'AbortError' });
          registry.release();
          // The image is there now, and holds no shell.
          const spec = world.spec('aaaaaa', 'true', { properties });
          await runtime.start(spec);
          expect(await exits.until(spec)).toMatchObject({ code: 127 });
          expect((await world.lines('aaaaaa')).join()).toContain('/bin/sh');
          await runtime.acknowledge(spec);
          const missing = { image: registry.image.replace('world', 'nosuch') };
          await expect(runtime.start(world.spec('aaaaaa', 'true', { properties: missing }))).rejects.toThrow(
            /image .*nosuch:1 cannot be pulled: .*not found/,
          );
          expect(await world.containers()).toEqual([]);
        } finally {
          await registry.stop();
        }
      });

      it('loses and doubles no line when daemons are killed while the program prints', async () => {
        // It prints hundreds of lines until it is told to end, so that a slow machine makes no difference.
        const hundred = 'k=0; while [ $k -lt 100 ]; do k=$((k+1)); n=$((n+1)); echo "line $n"; done';
        const command = `n=0; while [ ! -e stop ]; do ${hundred}; sleep 0.02; done; exit 4`;
        const spec = world.spec('aaaaaa', command, { ramMB: 64, cpu: 0 });
        const { containerId } = await runtime.start(spec);
        await until(async () => expect((await world.lines('aaaaaa')).length).toBeGreaterThan(100));
        await runtime.release();
        for (let killed = 0; killed < 3; killed++) {
          const before = (await world.lines('aaaaaa')).length;
          const daemon = spawn(process.execPath, [DAEMON, world.rootId, world.root, engine.socketPath], {
            stdio: ['ignore', 'pipe', 'inherit'],
          });
          const ended = once(daemon, 'exit');
          try {
            await once(daemon.stdout, 'data');
            await until(async () => expect((await world.lines('aaaaaa')).length).toBeGreaterThan(before));
          } finally {
            daemon.kill('SIGKILL');
            await ended;
          }
        }
        const last = world.runtime();
        const ends = new ExitWatch(last);
        const [held] = await last.adopt();
        expect(held?.process).toEqual({ containerId });
        writeFileSync(join(world.workingDirectory, 'stop'), '');
        expect(await ends.until(spec)).toMatchObject({ code: 4 });
        const lines = await world.lines('aaaaaa');
        expect(lines.findIndex((line, n) => line !== `line ${n + 1}`)).toBe(-1);
        expect(lines.length % 100).toBe(0);
      });
    });

    describe('an engine that goes away', () => {
      let world: DockerWorld;
      beforeEach(() => {
        world = new DockerWorld(engine);
      });
      afterEach(() => world.close());

      it('believes nothing ended while the engine is away, and tells the ends when it is back', async () => {
        const runtime = world.runtime();
        const exits = new ExitWatch(runtime);
        const spec = world.spec(
          'aaaaaa',
          'trap "echo bye; exit 3" TERM; echo up; while :; do sleep 0.1; done',
        );
        await runtime.start(spec);
        await until(async () => expect(await world.lines('aaaaaa')).toEqual(['up']));
        await runtime.release();
        await engine.stop();
        const next = world.runtime();
        const ends = new ExitWatch(next);
        const lost = vi.fn();
        next.onLost(lost);
        await expect(next.adopt()).rejects.toMatchObject({ code: 'DRV_RUNTIME_UNAVAILABLE' });
        await expect(next.isAlive(spec)).rejects.toMatchObject({ code: 'DRV_RUNTIME_UNAVAILABLE' });
        expect(await next.probe()).toMatchObject({
          available: false,
          reason: expect.stringContaining('engine'),
        });
        await engine.start();
        await until(() => expect(lost).toHaveBeenCalledOnce());
        // dockerd stops its containers in order when it is stopped.
        expect(await next.adopt()).toMatchObject([{ instanceId: 'aaaaaa', exit: { code: 3, signal: null } }]);
        expect(await world.lines('aaaaaa')).toEqual(['up', 'bye']);
        expect(ends.of(spec).length + exits.of(spec).length).toBeLessThanOrEqual(1);
      });

      it('does not wait for an engine that hangs', async () => {
        const runtime = world.runtime();
        engine.freeze();
        try {
          expect(await runtime.probe()).toMatchObject({
            available: false,
            reason: expect.stringContaining('within 3 s'),
          });
        } finally {
          engine.thaw();
        }
        expect(await runtime.probe()).toMatchObject({ available: true });
      });
    });
  },
);
