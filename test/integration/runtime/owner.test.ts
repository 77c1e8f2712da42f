/** The owner process of the process runtime: its death, its races, its own end. Needs `npm run build`. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readProcess } from '../../../src/files/processes.js';
import { followLog } from '../../../src/logs/follow.js';
import { LogWatches } from '../../../src/logs/log-watches.js';
import { SegmentCounts } from '../../../src/logs/segment-counts.js';
import type { KeptRuntime } from '../../../src/runtime/owner/kept-runtime.js';
import { launchOwner } from '../../../src/runtime/owner/owner-launch.js';
import { encodeFrame } from '../../../src/runtime/owner/protocol.js';
import { ownerKind } from '../../../src/runtime/process/process-runtime.js';
import { resolveSocketPath } from '../../../src/runtime/socket-path.js';
import { ExitWatch } from '../../support/exit-watch.js';
import { REPOSITORY } from '../../support/repository-root.js';
import { hasTool, ProcessWorld } from '../../support/runtime/process-world.js';
import { until } from '../../support/until.js';

const DAEMON = join(REPOSITORY, 'build/test/support/runtime/process-daemon.js');
/** Outlives the hang-up of its terminal, and its children left the session. */
const STUBBORN =
  'trap "" HUP TERM; setsid sh -c \'trap "" HUP TERM; echo ignores; sleep 60\' & while :; do sleep 0.1; done';

let world: ProcessWorld;
let runtime: KeptRuntime;

beforeEach(() => {
  world = new ProcessWorld();
  runtime = world.runtime();
});
afterEach(() => world.close());

function owner(): number {
  const [pid] = world.owners();
  if (pid === undefined) throw new Error('no owner runs');
  return pid;
}

function childrenOf(parent: number): number[] {
  return readFileSync(`/proc/${parent}/task/${parent}/children`, 'latin1').trim().split(' ').map(Number);
}

/** Until the one that left the session runs, which it does after both traps are set. */
const untilStubborn = (): Promise<void> =>
  until(async () => expect(await world.lines('aaaaaa')).toEqual(['ignores']));

/** Until then the shell may have helpers of its own (stty), marked as well, and descriptors that its exec closes. */
const untilSleep = (pid: number): Promise<void> =>
  until(() => expect(readFileSync(`/proc/${pid}/comm`, 'utf8')).toBe('sleep\n'));

const untilNoOwner = (): Promise<void> => until(() => expect(world.owners()).toEqual([]));

/** A process has its mark from its exec on, a moment after its start. */
const untilMarked = (count: number): Promise<void> => until(() => expect(world.marked()).toHaveLength(count));

describe('death of the owner', () => {
  it('reports everything as lost, reaches what survived it, and starts anew', async () => {
    await runtime.start(world.spec('aaaaaa', STUBBORN));
    await runtime.start(world.spec('bbbbbb', 'exec sleep 60'));
    await untilStubborn();
    const lost = new Promise<void>((resolve) => runtime.onLost(resolve));
    process.kill(owner(), 'SIGKILL');
    await lost;
    expect(await runtime.isAlive({ instanceId: 'aaaaaa', run: 1 })).toBe(true);
    expect(await runtime.list()).toMatchObject([
      { instanceId: 'aaaaaa', exit: { code: null, signal: 'SIGHUP' } },
      { instanceId: 'bbbbbb', exit: { code: null, signal: 'SIGHUP' } },
    ]);
    await runtime.acknowledge({ instanceId: 'aaaaaa', run: 1 });
    await runtime.signal({ instanceId: 'aaaaaa', run: 1 }, 'SIGKILL');
    await untilMarked(0);
    await runtime.start(world.spec('aaaaaa', 'exec sleep 60', { run: 2 }));
    expect(await runtime.list()).toMatchObject([
      { instanceId: 'bbbbbb', run: 1, exit: { signal: 'SIGHUP' } },
      { instanceId: 'aaaaaa', run: 2, exit: null },
    ]);
  });

  it('keeps exits that were not acknowledged', async () => {
    const spec = world.spec('aaaaaa', 'exit 4');
    const exits = new ExitWatch(runtime);
    await runtime.start(spec);
    await exits.until(spec);
    const lost = new Promise<void>((resolve) => runtime.onLost(resolve));
    process.kill(owner(), 'SIGKILL');
    await lost;
    expect(await runtime.list()).toMatchObject([{ instanceId: 'aaaaaa', exit: { code: 4, signal: null } }]);
    expect(exits.of(spec)).toHaveLength(1);
  });

  it('reports what survived when owner and daemon died together, and reaches it', async () => {
    await runtime.start(world.spec('aaaaaa', STUBBORN));
    await untilStubborn();
    await runtime.release();
    process.kill(owner(), 'SIGKILL');
    const next = world.runtime();
    expect(await next.adopt()).toMatchObject([
      { instanceId: 'aaaaaa', run: 1, process: null, exit: { code: null, signal: 'SIGHUP' } },
    ]);
    await next.acknowledge({ instanceId: 'aaaaaa', run: 1 });
    expect(await next.list()).toEqual([]);
    expect(await next.isAlive({ instanceId: 'aaaaaa', run: 1 })).toBe(true);
    await next.signal({ instanceId: 'aaaaaa', run: 1 }, 'SIGKILL');
    await untilMarked(0);
  });
});

describe('the last words of a run', () => {
  it('are a whole line for its followers once the end is acknowledged', async () => {
    const stop = new AbortController();
    const options = { counts: new SegmentCounts(), watches: new LogWatches(), signal: stop.signal };
    const log = followLog(join(world.root, 'logs', 'aaaaaa'), { since: 1 }, options);
    const spec = world.spec('aaaaaa', 'printf "out of memory"; exit 1');
    const exits = new ExitWatch(runtime);
    await runtime.start(spec);
    await exits.until(spec);
    await runtime.acknowledge(spec);
    expect((await log.next()).value).toEqual({ kind: 'lines', firstLine: 1, lines: ['out of memory'] });
    await log.return(undefined);
    expect(await world.lines('aaaaaa')).toEqual(['out of memory']);
  });
});

describe('death of the daemon', () => {
  it('leaves the instance running, with its log, for the next daemon', async () => {
    const command = 'echo before; read -r line; echo "after $line"; exec sleep 60';
    const daemon = spawn(process.execPath, [DAEMON, world.rootId, world.root, 'aaaaaa', command], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await once(daemon.stdout, 'data');
    daemon.kill('SIGKILL');
    await once(daemon, 'exit');
    const held = await runtime.adopt();
    expect(held).toMatchObject([
      { instanceId: 'aaaaaa', run: 1, process: JSON.parse(`${line}`), exit: null },
    ]);
    await runtime.write({ instanceId: 'aaaaaa', run: 1 }, Buffer.from('it\n'));
    await until(async () => expect(await world.lines('aaaaaa')).toEqual(['before', 'after it']));
  });

  it('lets a new daemon replace one that is still there, which then gets a clear error', async () => {
    const spec = world.spec('aaaaaa', 'exec sleep 60');
    const identity = await runtime.start(spec);
    const next = world.runtime();
    const exits = new ExitWatch(next);
    expect(await next.adopt()).toMatchObject([{ process: identity }]);
    await until(() =>
      expect(runtime.start(world.spec('bbbbbb', 'exit 0'))).rejects.toMatchObject({
        code: 'DRV_RUNTIME_UNAVAILABLE',
        message: expect.stringContaining('another daemon'),
      }),
    );
    process.kill(identity.pid, 'SIGKILL');
    await exits.until(spec);
  });
});

describe('one owner for one root', () => {
  it('is what is left of many that are started at once', async () => {
    const { socketDirectory } = world.options;
    const socketPath = resolveSocketPath(socketDirectory, 'owner.sock');
    const kind = ownerKind(world.options.ownerProgram);
    await Promise.all(Array.from({ length: 6 }, () => launchOwner({ ...world.options, kind, socketPath })));
    await runtime.start(world.spec('aaaaaa', 'exec sleep 60'));
    await until(() => expect(world.owners()).toHaveLength(1));
    expect(await runtime.list()).toMatchObject([{ instanceId: 'aaaaaa', exit: null }]);
    await untilMarked(1);
  });

  it('takes the place of one that was killed, whose socket file is still there', async () => {
    await runtime.start(world.spec('aaaaaa', 'exec sleep 60'));
    process.kill(owner(), 'SIGKILL');
    await untilNoOwner();
    const next = world.runtime();
    await next.adopt();
    await next.start(world.spec('aaaaaa', 'exec sleep 60', { run: 2 }));
    // The first runtime may have started one as well; it finds the place taken and leaves.
    await until(() => expect(world.owners()).toHaveLength(1));
  });

  it('is refused clearly when it speaks another protocol, and nothing of its is ended', async () => {
    const { pid } = await runtime.start(world.spec('aaaaaa', 'exec sleep 60'));
    await untilSleep(pid);
    const directory = join(world.root, 'other');
    const refusing = createServer((socket: Socket) => {
      const refused = { type: 'refused', protocol: 99, pid: 4242, reason: 'it speaks protocol 99' } as const;
      socket.end(encodeFrame(refused));
    });
    refusing.listen(resolveSocketPath(directory, 'owner.sock'));
    await once(refusing, 'listening');
    const next = world.runtime({ socketDirectory: directory });
    await expect(next.adopt()).rejects.toMatchObject({
      code: 'DRV_RUNTIME_UNAVAILABLE',
      message: expect.stringMatching(/pid 4242.*protocol 99.*protocol 1/),
    });
    expect(world.marked()).toEqual([pid]);
    refusing.close();
  });
});

describe('end of the owner', () => {
  it('comes by itself, with its socket, once it holds nothing', async () => {
    const spec = world.spec('aaaaaa', 'exit 0');
    const exits = new ExitWatch(runtime);
    await runtime.start(spec);
    await exits.until(spec);
    await runtime.acknowledge(spec);
    // A fork of it, which is about to become a shell, looks like it for a moment.
    await until(() => expect(world.owners()).toHaveLength(1));
    await runtime.release();
    await untilNoOwner();
    expect(existsSync(join(world.options.socketDirectory, 'owner.sock'))).toBe(false);
  });

  it('does not come while an exit is not acknowledged', async () => {
    const spec = world.spec('aaaaaa', 'read -r line');
    const { pid } = await runtime.start(spec);
    await runtime.write(spec, Buffer.from('go\n'));
    await runtime.release();
    await until(() => expect(readProcess(pid)).toBeUndefined());
    // A fork of it, which is about to become a shell, looks like it for a moment.
    await until(() => expect(world.owners()).toHaveLength(1));
    const next = world.runtime();
    await next.adopt();
    await next.acknowledge(spec);
    await next.release();
    await untilNoOwner();
  });

  it('does not come from a stranger that connects and sends rubbish', async () => {
    await runtime.start(world.spec('aaaaaa', 'exec sleep 60'));
    const path = resolveSocketPath(world.options.socketDirectory, 'owner.sock');
    for (const bytes of ['GET / HTTP/1.1\r\n\r\n', '\xff'.repeat(64), '\0\0\0\x02\0\0\0\0{}']) {
      const stranger = connect(path);
      stranger.on('error', () => undefined);
      stranger.end(Buffer.from(bytes, 'latin1'));
      stranger.resume();
      await once(stranger, 'close');
    }
    await runtime.start(world.spec('bbbbbb', 'exec sleep 60'));
    await untilMarked(2);
  });
});

describe('descriptors', () => {
  it('of the owner and of other instances are not open in an instance', async () => {
    const identities = [];
    for (const id of ['aaaaaa', 'bbbbbb', 'cccccc'])
      identities.push(await runtime.start(world.spec(id, 'exec sleep 60')));
    const foreign = new Set<string>();
    for (const { pid } of identities) await untilSleep(pid);
    for (const { pid } of identities)
      for (const fd of readdirSync(`/proc/${pid}/fd`)) {
        const target = readlinkSync(`/proc/${pid}/fd/${fd}`);
        if (Number(fd) > 2 && /ptmx|pts|socket|drover|eventpoll/.test(target)) foreign.add(`${fd} ${target}`);
      }
    expect([...foreign]).toEqual([]);
  });

  it.skipIf(!hasTool('prlimit'))(
    'that run out fail a start with the reason, and the owner goes on',
    async () => {
      const spec = world.spec('aaaaaa', 'echo up; read -r line; echo "got $line"; exec sleep 60');
      await runtime.start(spec);
      await until(async () => expect(await world.lines('aaaaaa')).toEqual(['up']));
      const pid = owner();
      const used = readdirSync(`/proc/${pid}/fd`).length;
      const limit = (soft: number | string): void => {
        execFileSync('prlimit', ['--pid', `${pid}`, `--nofile=${soft}:`]);
      };
      limit(used + 1);
      // One more start may find a terminal that was made ahead.
      const startTwo = async (): Promise<void> => {
        for (const id of ['bbbbbb', 'cccccc']) await runtime.start(world.spec(id, 'exec sleep 60'));
      };
      await expect(startTwo()).rejects.toMatchObject({
        code: 'DRV_RUNTIME_START_FAILED',
        message: expect.stringMatching(/EMFILE/),
      });
      limit(1024);
      await runtime.start(world.spec('dddddd', 'exec sleep 60'));
      await runtime.write(spec, Buffer.from('it\n'));
      await until(async () => expect(await world.lines('aaaaaa')).toEqual(['up', 'got it']));
      await until(() => expect(world.owners()).toEqual([pid]));
    },
  );
});

describe('the shell that waits for the next start', () => {
  async function untilWaiting(other: number): Promise<number> {
    const children = (): number[] => childrenOf(owner()).filter((pid) => pid !== other);
    await until(() => expect(children()).toHaveLength(1));
    return children()[0] ?? 0;
  }

  it('becomes its command', async () => {
    const first = await runtime.start(world.spec('aaaaaa', 'exec sleep 60'));
    const waiting = await untilWaiting(first.pid);
    const second = await runtime.start(world.spec('bbbbbb', 'exec sleep 60'));
    expect(second).toMatchObject({ pid: waiting, startTime: readProcess(waiting)?.startTime });
    await untilMarked(2);
  });

  it('is no loss when somebody ends it', async () => {
    const first = await runtime.start(world.spec('aaaaaa', 'exec sleep 60'));
    const waiting = await untilWaiting(first.pid);
    process.kill(waiting, 'SIGKILL');
    await until(() => expect(readProcess(waiting)).toBeUndefined());
    await runtime.start(world.spec('bbbbbb', 'exec sleep 60'));
    await untilMarked(2);
  });

  it('goes with its owner', async () => {
    const first = await runtime.start(world.spec('aaaaaa', 'exec sleep 60'));
    const waiting = await untilWaiting(first.pid);
    process.kill(owner(), 'SIGKILL');
    await until(() => expect(readProcess(waiting)).toBeUndefined());
  });
});

describe('the socket', () => {
  it('is made again when somebody removed it, and no instance is ended for it', async () => {
    const identity = await runtime.start(world.spec('aaaaaa', 'exec sleep 60'));
    const pid = owner();
    await runtime.release();
    for (const removed of [
      join(world.options.socketDirectory, 'owner.sock'),
      world.options.socketDirectory,
    ]) {
      rmSync(removed, { recursive: true });
      const next = world.runtime();
      expect(await next.adopt()).toMatchObject([{ process: identity, exit: null }]);
      await next.release();
    }
    await until(() => expect(world.owners()).toEqual([pid]));
  });
});
