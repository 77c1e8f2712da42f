/** The docker runtime's pure parts: a container from a configuration, and the meaning of an engine's answers. */

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { groupOf } from '../../../src/runtime/docker/container-usage.js';
import { exitOfRemoved, exitOfState } from '../../../src/runtime/docker/engine/container-exit.js';
import { containerOptions, runOfLabels } from '../../../src/runtime/docker/engine/container-options.js';
import { readDockerSettings } from '../../../src/runtime/docker/engine/docker-settings.js';
import { statsSchema, usageOf } from '../../../src/runtime/docker/engine/engine.js';
import { refusalOf, toEngineError } from '../../../src/runtime/docker/engine/engine-error.js';
import { findEngineSocket } from '../../../src/runtime/docker/engine/engine-socket.js';
import { PullProgress } from '../../../src/runtime/docker/image-pull.js';
import { VERSION_1, VERSION_2 } from '../../../src/runtime/limits/hierarchy.js';
import { findOwnGroups } from '../../../src/runtime/limits/own-groups.js';
import type { StartSpec } from '../../../src/runtime/runtime.js';

function spec(more: Partial<StartSpec> = {}): StartSpec {
  return {
    instanceId: 'abc123',
    run: 2,
    command: 'exec game "$X"',
    workingDirectory: '/srv/drover/running/abc123',
    environment: { X: 'a=b' },
    ramMB: 512,
    cpu: 150,
    ...more,
  };
}

describe('the settings of a container', () => {
  const imageOf = (image: string): string => readDockerSettings(spec({ properties: { image } })).image;

  it('take the image from the properties, else from CUSTOM_IMAGE, with a tag in any case', () => {
    expect(imageOf('debian')).toBe('debian:latest');
    expect(imageOf('host:5000/a/b')).toBe('host:5000/a/b:latest');
    expect(imageOf('host:5000/a/b:1.2')).toBe('host:5000/a/b:1.2');
    expect(imageOf(`debian@sha256:${'0'.repeat(64)}`)).toBe(`debian@sha256:${'0'.repeat(64)}`);
    const both = spec({ properties: { image: 'a:1' }, environment: { CUSTOM_IMAGE: 'b:2' } });
    expect(readDockerSettings(both).image).toBe('a:1');
    expect(readDockerSettings(spec({ environment: { CUSTOM_IMAGE: 'b:2' } })).image).toBe('b:2');
  });

  it.each([
    [{}, /properties\.image or environmentVariables\.CUSTOM_IMAGE/],
    [{ image: '../../containers/x' }, /is not the name of a container image/],
    [{ image: 'a/../b' }, /is not the name/],
    [{ image: 'a?b=c' }, /is not the name/],
    [
      { image: 'a', dockerPull: 'sometimes' },
      /property dockerPull must be missing, always or never, is "sometimes"/,
    ],
    [{ image: 'a', dockerNetwork: 'container:x' }, /property dockerNetwork must be/],
    [{ image: 'a', dockerWorkdir: 'data' }, /property dockerWorkdir must be an absolute path/],
    [{ image: 'a', dockerWorkdir: '/a/../..' }, /property dockerWorkdir/],
    [{ image: 'a', dockerUser: 'a b' }, /property dockerUser must be/],
  ])('refuse %j', (properties, message) => {
    expect(() => readDockerSettings(spec({ properties }))).toThrow(message);
  });

  it('do not stumble over names that objects have by themselves', () => {
    expect(() => readDockerSettings(spec({ properties: {} }))).toThrow(/no container image/);
    expect(readDockerSettings(spec({ properties: { image: 'a', toString: 'x' } })).image).toBe('a:latest');
  });
});

describe('the container of a start', () => {
  const optionsOf = (
    more: Partial<StartSpec>,
    network = 'bridge',
    properties: Record<string, string> = {},
  ) => {
    const start = spec({ ...more, properties: { image: 'a:1', ...properties } });
    return containerOptions({
      rootId: 'root',
      spec: start,
      settings: readDockerSettings(start),
      network,
      defaultUser: '1000:1000',
      log: { segmentBytes: 100, segments: 4 },
      hasInit: true,
      disk: { numbers: '8:0', path: '/dev/sda', hasWeights: true },
    });
  };

  it('runs the command in a shell, with its values in the environment and its directory mounted', () => {
    expect(optionsOf({})).toMatchObject({
      name: 'drover-root-abc123-2',
      Image: 'a:1',
      Entrypoint: ['/bin/sh', '-c'],
      Cmd: ['exec game "$X"'],
      Env: ['X=a=b'],
      User: '1000:1000',
      WorkingDir: '/data',
      OpenStdin: true,
      Tty: false,
      Labels: { 'drover.root': 'root', 'drover.instance': 'abc123', 'drover.run': '2' },
      HostConfig: {
        Mounts: [{ Type: 'bind', Source: '/srv/drover/running/abc123', Target: '/data' }],
        Memory: 536_870_912,
        MemorySwap: 536_870_912,
        CpuPeriod: 100_000,
        CpuQuota: 150_000,
        RestartPolicy: { Name: 'no' },
        AutoRemove: false,
      },
    });
  });

  it('has the authority of the API where its environment names it, to read only', () => {
    const { HostConfig } = optionsOf({ apiAuthority: '/srv/drover/api-ca.pem' });
    expect(HostConfig?.Mounts).toContainEqual({
      Type: 'bind',
      Source: '/srv/drover/api-ca.pem',
      Target: '/etc/drover/api-ca.pem',
      ReadOnly: true,
    });
  });

  it('publishes the port for TCP and UDP, but not on the network of the host', () => {
    const published = optionsOf({ port: 25_565 });
    expect(published.ExposedPorts).toEqual({ '25565/tcp': {}, '25565/udp': {} });
    expect(published.HostConfig?.PortBindings).toEqual({
      '25565/tcp': [{ HostPort: '25565' }],
      '25565/udp': [{ HostPort: '25565' }],
    });
    const ports = [
      { name: 'query', port: 25_566, protocol: 'udp' as const },
      { name: 'voice', port: 25_565, protocol: 'udp' as const },
    ];
    expect(optionsOf({ port: 25_565, ports }).HostConfig?.PortBindings).toEqual({
      ...published.HostConfig?.PortBindings,
      '25566/udp': [{ HostPort: '25566' }],
    });
    expect(optionsOf({ port: 25_565 }, 'host').HostConfig?.PortBindings).toEqual({});
    expect(optionsOf({ port: null }).ExposedPorts).toEqual({});
  });

  it('leaves entrypoint and command to the image when it is told so', () => {
    const options = optionsOf({}, 'bridge', { dockerEntrypoint: 'image' });
    expect(options.Entrypoint).toBeUndefined();
    expect(options.Cmd).toBeUndefined();
  });

  it('limits the disk under its directory, as far as it is asked to', () => {
    expect(optionsOf({ ioWeight: 300, readMBps: 2, writeMBps: 3 }).HostConfig).toMatchObject({
      BlkioWeight: 300,
      BlkioDeviceReadBps: [{ Path: '/dev/sda', Rate: 2_097_152 }],
      BlkioDeviceWriteBps: [{ Path: '/dev/sda', Rate: 3_145_728 }],
    });
    expect(Object.keys(optionsOf({}).HostConfig).filter((name) => name.startsWith('Blkio'))).toEqual([]);
  });

  it('asks for no processor limit at 0, and for no less memory than engines take', () => {
    const { HostConfig } = optionsOf({ ramMB: 1, cpu: 0 });
    expect(HostConfig).not.toHaveProperty('CpuQuota');
    expect(HostConfig?.Memory).toBe(6 * 1024 * 1024);
  });

  it('is known again by its labels, and no other is', () => {
    expect(runOfLabels('root', optionsOf({}).Labels)).toEqual({ instanceId: 'abc123', run: 2 });
    expect(runOfLabels('other', optionsOf({}).Labels)).toBeUndefined();
    expect(runOfLabels('root', { 'drover.root': 'root' })).toBeUndefined();
    expect(runOfLabels('root', null)).toBeUndefined();
  });
});

describe('the end of a container', () => {
  const state = (exitCode: number, more: object = {}) =>
    exitOfState({ exitCode, isOutOfMemory: false, finishedAt: '2026-01-31T12:00:00.123456789Z', ...more }, 5);

  it('is an exit code, or the signal behind a code over 128', () => {
    const at = Date.UTC(2026, 0, 31, 12, 0, 0, 123);
    expect(state(0)).toEqual({ code: 0, signal: null, at });
    expect(state(127)).toEqual({ code: 127, signal: null, at });
    expect(state(143)).toEqual({ code: null, signal: 'SIGTERM', at });
    expect(state(255)).toEqual({ code: 255, signal: null, at });
  });

  it('is out of memory only when the program itself was killed', () => {
    expect(state(137, { isOutOfMemory: true })).toMatchObject({ signal: 'SIGKILL', isOutOfMemory: true });
    expect(state(0, { isOutOfMemory: true })).not.toHaveProperty('isOutOfMemory');
    expect(state(137)).not.toHaveProperty('isOutOfMemory');
  });

  it('has an instant also when the engine has none', () => {
    expect(state(1, { finishedAt: '0001-01-01T00:00:00Z' }).at).toBe(5);
    expect(state(1, { finishedAt: '' }).at).toBe(5);
  });

  it('of a removed one says so, with what an event told', () => {
    expect(exitOfRemoved(137, 5)).toEqual({
      code: null,
      signal: 'SIGKILL',
      at: 5,
      cause: 'its container was removed',
    });
    expect(exitOfRemoved(undefined, 5)).toMatchObject({ code: null, signal: null });
  });
});

describe('the progress of a pull', () => {
  it('adds up the layers', () => {
    const progress = new PullProgress('alpine:3');
    expect(progress.text()).toBe('pulling image alpine:3');
    progress.note({ id: '', status: 'Pulling from library/alpine' });
    progress.note({ id: 'a', status: 'Pulling fs layer', progressDetail: {} });
    progress.note({
      id: 'a',
      status: 'Downloading',
      progressDetail: { current: 2_600_000, total: 20_000_000 },
    });
    progress.note({
      id: 'b',
      status: 'Downloading',
      progressDetail: { current: 100_000, total: 10_000_000 },
    });
    expect(progress.text()).toBe('pulling image alpine:3: 9 %, 2.7 of 30 MB');
    progress.note({ id: 'b', status: 'Extracting', progressDetail: { current: 1, total: 10_000_000 } });
    expect(progress.text()).toBe('pulling image alpine:3: 42 %, 13 of 30 MB');
  });
});

describe("an engine's refusal", () => {
  it('is told in its own words, without paths', () => {
    const said = { message: 'invalid mount: /srv/drover/running/abc123 is no directory' };
    expect(refusalOf(400, JSON.stringify(said))).toMatchObject({
      status: 400,
      message: 'invalid mount: abc123 is no directory',
    });
    expect(refusalOf(404, 'No such image: a:1\n').message).toBe('No such image: a:1');
    expect(refusalOf(500, '').message).toBe('HTTP 500');
  });

  it('is told from no answer at all', () => {
    const error = Object.assign(new Error('connect ENOENT /var/run/docker.sock'), { errno: -2 });
    expect(toEngineError(error)).toMatchObject({
      code: 'DRV_RUNTIME_UNAVAILABLE',
      message: expect.stringMatching(/^the container engine does not answer: no such file or directory/),
    });
  });
});

describe('the measurement of a container', () => {
  const cpu_stats = { cpu_usage: { total_usage: 2_500_000_000 } };

  it('leaves out the cache, whatever the control groups call it', () => {
    const of = (stats: object) =>
      usageOf(
        statsSchema.parse({ cpu_stats, memory_stats: { usage: 100, stats }, pids_stats: { current: 3 } }),
      );
    expect(of({ total_inactive_file: 30, inactive_file: 1 })).toEqual({
      cpuSeconds: 2.5,
      memoryBytes: 70,
      processes: 3,
    });
    expect(of({ inactive_file: 40 }).memoryBytes).toBe(60);
    expect(of({}).memoryBytes).toBe(100);
  });

  it('reads the control groups of the container itself, and of nothing else', () => {
    const id = 'f'.repeat(64);
    const mounts1 =
      '40 30 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n41 30 0:31 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct';
    expect(
      groupOf(id, findOwnGroups(`4:memory:/docker/${id}\n2:cpu,cpuacct:/docker/${id}/init.scope`, mounts1)),
    ).toEqual({
      memory: `/sys/fs/cgroup/memory/docker/${id}`,
      accounting: `/sys/fs/cgroup/cpu/docker/${id}`,
      version: VERSION_1,
    });
    const mounts2 = '40 30 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw';
    const group = `/sys/fs/cgroup/system.slice/docker-${id}.scope`;
    expect(groupOf(id, findOwnGroups(`0::/system.slice/docker-${id}.scope`, mounts2))).toEqual({
      memory: group,
      accounting: group,
      version: VERSION_2,
    });
    expect(groupOf(id, findOwnGroups('0::/user.slice/a-shell', mounts2))).toBeNull();
    expect(groupOf(id, findOwnGroups(`0::/../docker-${id}.scope`, mounts2))).toBeNull();
  });

  it('of one that has just ended is nothing', () => {
    expect(
      usageOf(statsSchema.parse({ cpu_stats: { cpu_usage: {} }, memory_stats: {}, pids_stats: {} })),
    ).toEqual({
      cpuSeconds: 0,
      memoryBytes: 0,
      processes: 0,
    });
  });
});

describe('the socket of the engine', () => {
  let server: Server | undefined;
  afterEach(async () => {
    if (server === undefined) return;
    server.close();
    await once(server, 'close');
  });

  it('is where DOCKER_HOST says, and nowhere else then', async () => {
    const path = join(tmpdir(), `drover-engine-${randomBytes(6).toString('hex')}.sock`);
    expect(() => findEngineSocket({ DOCKER_HOST: `unix://${path}` })).toThrow(
      'there is no socket where DOCKER_HOST points; start the engine',
    );
    server = createServer().listen(path);
    await once(server, 'listening');
    expect(findEngineSocket({ DOCKER_HOST: `unix://${path}` })).toBe(path);
  });

  it.each(['tcp://10.0.0.1:2375', 'ssh://host', 'unix://relative', '/var/run/docker.sock'])(
    'is not taken from DOCKER_HOST=%s',
    (DOCKER_HOST) => {
      expect(() => findEngineSocket({ DOCKER_HOST })).toThrow('unix:///PATH');
    },
  );
});
