/** The promises of every runtime, as one suite. It runs for each implementation of src/runtime/runtime.ts. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readProcess } from '../../src/files/processes.js';
import type { RunIdentity } from '../../src/model/run/run-identity.js';
import type { Runtime, StartSpec } from '../../src/runtime/runtime.js';
import { ExitWatch } from '../support/exit-watch.js';
import { until } from '../support/until.js';

export interface RuntimeWorld {
  /** Makes a runtime as a new daemon on the same root would. */
  runtime(): Runtime;
  /** Run 1 of the instance, in a working directory that exists, with only PATH in its environment. */
  spec(instanceId: string, command: string, more?: Partial<StartSpec>): StartSpec;
  /** The lines of the instance's log. */
  lines(instanceId: string): Promise<string[]>;
  /** Needed for runs that /proc does not show. True once the run has ended, with or without a daemon. */
  hasEnded?(run: RunIdentity): Promise<boolean>;
  /** Ends all that still runs and removes the root. */
  close(): Promise<void>;
}

/** How a runtime may differ from a group of processes on a terminal of this host. */
interface RuntimeAbilities {
  /** False: no process of this host stands for a run (docker). */
  readonly hasPids?: boolean;
  /** False: signals reach the main process only. When it ends, the rest of the run ends too (docker). */
  readonly signalsGroup?: boolean;
  /** False: the tool between runtime and program hides that the program does not read its input (screen, tmux). */
  readonly noticesUnread?: boolean;
  /** Variables that the runtime adds to the environment. */
  readonly addedVariables?: readonly string[];
}

export function testRuntime(
  name: string,
  open: () => RuntimeWorld | Promise<RuntimeWorld>,
  { hasPids = true, signalsGroup = true, noticesUnread = true, addedVariables = [] }: RuntimeAbilities = {},
): void {
  describe(`runtime ${name}`, () => {
    let world: RuntimeWorld;
    let runtime: Runtime;
    let exits: ExitWatch;

    const useRuntime = (): void => {
      runtime = world.runtime();
      exits = new ExitWatch(runtime);
    };
    beforeEach(async () => {
      world = await open();
      useRuntime();
    });
    afterEach(() => world.close());

    const untilLogged = (instanceId: string, text: string): Promise<void> =>
      until(async () => expect(await world.lines(instanceId)).toContain(text));
    const untilGone = (spec: StartSpec): Promise<void> =>
      until(async () => expect(await runtime.isAlive(spec)).toBe(false));

    const untilEnded = (run: RunIdentity): Promise<void> =>
      until(async () => {
        const isThere = 'pid' in run ? readProcess(run.pid) !== undefined : !(await world.hasEnded?.(run));
        expect(isThere).toBe(false);
      });

    describe('start and exit', () => {
      it('offers itself on this machine', async () => {
        expect(await runtime.probe()).toMatchObject({ key: name, available: true, reason: null });
      });

      it.runIf(hasPids)('starts a process that is known by pid and start time', async () => {
        const identity = await runtime.start(world.spec('aaaaaa', 'exec sleep 60'));
        if (!('pid' in identity)) throw new Error('it has no pid');
        expect(readProcess(identity.pid)?.startTime).toBe(identity.startTime);
      });

      it('lists what it started', async () => {
        const spec = world.spec('aaaaaa', 'exec sleep 60');
        const identity = await runtime.start(spec);
        expect(await runtime.isAlive(spec)).toBe(true);
        expect(await runtime.list()).toMatchObject([
          { instanceId: 'aaaaaa', run: 1, process: identity, exit: null },
        ]);
      });

      it('reports the exit code, once, with all output before it in the log', async () => {
        const spec = world.spec('aaaaaa', 'seq 1 20000; exit 3');
        await runtime.start(spec);
        expect(await exits.until(spec)).toMatchObject({ code: 3, signal: null });
        const lines = await world.lines('aaaaaa');
        expect([lines.length, lines.at(0), lines.at(-1)]).toEqual([20_000, '1', '20000']);
        expect(exits.of(spec)).toHaveLength(1);
      });

      it('reports the signal that ended a process', async () => {
        const spec = world.spec('aaaaaa', 'exec sleep 60');
        const identity = await runtime.start(spec);
        if ('pid' in identity) process.kill(identity.pid, 'SIGKILL');
        else await runtime.signal(spec, 'SIGKILL');
        expect(await exits.until(spec)).toMatchObject({ code: null, signal: 'SIGKILL' });
      });

      it('reports an exit only after start has resolved, however fast it is', async () => {
        const order: string[] = [];
        runtime.onExit(() => order.push('exit'));
        const specs = Array.from({ length: 5 }, (_, n) => world.spec(`aaaaa${n}`, 'exit 0'));
        for (const spec of specs) {
          await runtime.start(spec);
          order.push('started');
          await exits.until(spec);
        }
        expect(order).toEqual(specs.flatMap(() => ['started', 'exit']));
      });

      it('ends with 127 and says so in the log when the command does not exist', async () => {
        const spec = world.spec('aaaaaa', 'no-such-program --flag');
        await runtime.start(spec);
        expect(await exits.until(spec)).toMatchObject({ code: 127 });
        expect((await world.lines('aaaaaa')).join('\n')).toContain('no-such-program');
      });

      it('refuses a working directory that does not exist, and names it without where the root lies', async () => {
        const spec = world.spec('aaaaaa', 'exit 0', { workingDirectory: '/no/such/directory' });
        await expect(runtime.start(spec)).rejects.toMatchObject({
          code: 'DRV_RUNTIME_START_FAILED',
          message: expect.stringMatching(/ such\/directory /),
        });
        expect(await runtime.list()).toEqual([]);
      });

      it('refuses a second live process for one instance', async () => {
        const identity = await runtime.start(world.spec('aaaaaa', 'exec sleep 60'));
        await expect(runtime.start(world.spec('aaaaaa', 'exec sleep 60', { run: 2 }))).rejects.toMatchObject({
          code: 'DRV_RUNTIME_START_FAILED',
        });
        expect((await runtime.list()).map((held) => held.process)).toEqual([identity]);
      });

      it('gives the process its environment and nothing of the daemon', async () => {
        vi.stubEnv('DAEMON_SECRET', 'must not leak');
        const environment = { PATH: '/usr/bin:/bin', GREETING: `it's "$HOME" 100%\nsecond line`, EMPTY: '' };
        const spec = world.spec('aaaaaa', 'env -0 | tr "\\n\\0" "~\\n"', { environment });
        await runtime.start(spec);
        await exits.until(spec);
        vi.unstubAllEnvs();
        const lines = await world.lines('aaaaaa');
        expect(lines).toEqual(
          expect.arrayContaining(['PATH=/usr/bin:/bin', `GREETING=it's "$HOME" 100%~second line`, 'EMPTY=']),
        );
        const names = lines.map((line) => line.slice(0, line.indexOf('=')));
        const allowed = new Set([...'PATH GREETING EMPTY TERM PWD DROVER_RUN'.split(' '), ...addedVariables]);
        expect(names.filter((given) => !allowed.has(given))).toEqual([]);
      });

      it('keeps a process that redirects all its output', async () => {
        const spec = world.spec('aaaaaa', 'exec sleep 60 </dev/null >/dev/null 2>&1');
        await runtime.start(spec);
        const other = world.spec('bbbbbb', 'sleep 0.3');
        await runtime.start(other);
        await exits.until(other);
        expect(await runtime.isAlive(spec)).toBe(true);
        expect(exits.of(spec)).toEqual([]);
      });

      it('appends the output of a new run to the log of the earlier ones', async () => {
        for (const run of [1, 2]) {
          const spec = world.spec('aaaaaa', `printf 'run ${run}'`, { run });
          await runtime.start(spec);
          await exits.until(spec);
          await runtime.acknowledge(spec);
        }
        expect(await world.lines('aaaaaa')).toEqual(['run 1', 'run 2']);
      });
    });

    describe('standard input and output', () => {
      it('delivers every byte as it is, control characters included', async () => {
        const all = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
        const spec = world.spec('aaaaaa', 'exec od -An -v -tx1 -w256 -N 256');
        await runtime.start(spec);
        await runtime.write(spec, all);
        expect(await exits.until(spec)).toMatchObject({ code: 0 });
        expect((await world.lines('aaaaaa')).join('').replace(/ /g, '')).toBe(all.toString('hex'));
      });

      it('takes a text for nothing but text, whatever it means to shells and multiplexers', async () => {
        const piece = `--help -X quit "$HOME" '$(id)' \`id\` ^C ^A \\003 \\; ; & | > %PATH% #{pane_id} ~ ! äöü 日本 🐑 `;
        const text = Buffer.from(`${[...piece.repeat(40)].slice(0, 3000).join('')}\n`);
        const spec = world.spec('aaaaaa', `exec od -An -v -tx1 -w256 -N ${text.length}`);
        await runtime.start(spec);
        await runtime.write(spec, text);
        expect(await exits.until(spec)).toMatchObject({ code: 0 });
        expect((await world.lines('aaaaaa')).join('').replace(/ /g, '')).toBe(text.toString('hex'));
      });

      it('keeps the order of many writes', async () => {
        const spec = world.spec('aaaaaa', 'while read -r line; do echo "got $line"; done');
        await runtime.start(spec);
        await Promise.all(
          Array.from({ length: 200 }, (_, n) => runtime.write(spec, Buffer.from(`line ${n}\n`))),
        );
        await untilLogged('aaaaaa', 'got line 199');
        expect(await world.lines('aaaaaa')).toEqual(Array.from({ length: 200 }, (_, n) => `got line ${n}`));
      });

      it('adds no carriage return to output and takes none away', async () => {
        const spec = world.spec('aaaaaa', "printf 'unix\\ndos\\r\\nend'");
        await runtime.start(spec);
        await exits.until(spec);
        expect(await world.lines('aaaaaa')).toEqual(['unix', 'dos\r', 'end']);
      });

      it('refuses a line over 4,000 bytes and takes one of 4,000', async () => {
        const spec = world.spec('aaaaaa', 'exec head -c 4001 | wc -c');
        await runtime.start(spec);
        await expect(runtime.write(spec, Buffer.alloc(4001, 'x'))).rejects.toMatchObject({
          code: 'DRV_STDIN_TOO_LONG',
        });
        await runtime.write(spec, Buffer.from(`${'x'.repeat(4000)}\n`));
        await exits.until(spec);
        expect(await world.lines('aaaaaa')).toEqual(['4001']);
      });

      it.runIf(noticesUnread)('refuses more when the process does not read', async () => {
        const spec = world.spec('aaaaaa', 'exec sleep 60');
        await runtime.start(spec);
        const line = Buffer.from(`${'x'.repeat(3999)}\n`);
        const writeMany = async (): Promise<void> => {
          for (let n = 0; n < 200; n++) await runtime.write(spec, line);
        };
        await expect(writeMany()).rejects.toMatchObject({ code: 'DRV_STDIN_FULL' });
      });

      it('refuses input for what is not running', async () => {
        const spec = world.spec('aaaaaa', 'exit 0');
        await expect(runtime.write(spec, Buffer.from('x\n'))).rejects.toMatchObject({
          code: 'DRV_INSTANCE_NOT_RUNNING',
        });
        await runtime.start(spec);
        await exits.until(spec);
        await expect(runtime.write(spec, Buffer.from('x\n'))).rejects.toMatchObject({
          code: 'DRV_INSTANCE_NOT_RUNNING',
        });
      });
    });

    describe('signals', () => {
      it.runIf(signalsGroup)('sends a signal once to the whole group', async () => {
        const script = 'trap "echo $1 got it" TERM; echo $1 ready; while :; do sleep 0.05; done';
        const command = `(set -- child; ${script}) & set -- parent; ${script}`;
        const spec = world.spec('aaaaaa', command);
        await runtime.start(spec);
        await untilLogged('aaaaaa', 'child ready');
        await untilLogged('aaaaaa', 'parent ready');
        await runtime.signal(spec, 'SIGTERM');
        await untilLogged('aaaaaa', 'parent got it');
        await untilLogged('aaaaaa', 'child got it');
        await runtime.signal(spec, 'SIGKILL');
        await untilGone(spec);
        const got = (await world.lines('aaaaaa')).filter((line) => line.endsWith('got it'));
        expect(got.sort()).toEqual(['child got it', 'parent got it']);
      });

      it.runIf(signalsGroup)(
        'ends what ignores SIGTERM and what left its session, and calls it alive until then',
        async () => {
          // Each process prints this once its trap is set. What a shell prints besides may come before or after.
          const stubborn = 'trap "" TERM HUP INT; echo $0 ignores; while :; do sleep 0.1; done';
          const command = `setsid sh -c '${stubborn}' far & sh -c '${stubborn}' near & exec sleep 60`;
          const spec = world.spec('aaaaaa', command);
          await runtime.start(spec);
          await untilLogged('aaaaaa', 'far ignores');
          await untilLogged('aaaaaa', 'near ignores');
          await runtime.signal(spec, 'SIGTERM');
          await exits.until(spec);
          await runtime.acknowledge(spec);
          expect(await runtime.isAlive(spec)).toBe(true);
          await runtime.signal(spec, 'SIGKILL');
          await untilGone(spec);
        },
      );

      it('knows an empty process group at once, and never calls one empty that has members', async () => {
        const alone = world.spec('aaaaaa', 'exec sleep 60');
        await runtime.start(alone);
        // A process makes its group a moment after its start.
        await until(() => expect(runtime.isGroupGone(alone)).toBe(false));
        await runtime.signal(alone, 'SIGKILL');
        await exits.until(alone);
        await until(() => expect(runtime.isGroupGone(alone)).toBe(true));
        if (!signalsGroup) return;
        const withChild = world.spec('bbbbbb', 'trap "" HUP; (exec sleep 60) & echo forked; exit 0');
        await runtime.start(withChild);
        await exits.until(withChild);
        expect(runtime.isGroupGone(withChild)).toBe(false);
        await runtime.signal(withChild, 'SIGKILL');
        await untilGone(withChild);
      });

      it('takes a signal for a run that is gone or never was as no error', async () => {
        const spec = world.spec('aaaaaa', 'exit 0');
        await runtime.signal(spec, 'SIGTERM');
        await runtime.start(spec);
        await exits.until(spec);
        await untilGone(spec);
        await runtime.signal(spec, 'SIGKILL');
        expect(exits.of(spec)).toMatchObject([{ code: 0, signal: null }]);
      });

      it('does not touch another run of the same instance', async () => {
        const first = world.spec('aaaaaa', 'exit 0');
        await runtime.start(first);
        await exits.until(first);
        const second = world.spec('aaaaaa', 'exec sleep 60', { run: 2 });
        await runtime.start(second);
        await runtime.signal(first, 'SIGKILL');
        // The exit may be told while the terminal of the run is still closing.
        await untilGone(first);
        expect(await runtime.isAlive(second)).toBe(true);
      });
    });

    describe('adoption', () => {
      it('leaves instances running when it is released, and the next daemon takes them up', async () => {
        const spec = world.spec('aaaaaa', 'read -r line; echo "got $line"; exit 7');
        const identity = await runtime.start(spec);
        await runtime.release();
        useRuntime();
        const outputFrom = { segment: 1, offset: 0 };
        expect(await runtime.adopt()).toEqual([
          { instanceId: 'aaaaaa', run: 1, process: identity, exit: null, outputFrom },
        ]);
        await runtime.write(spec, Buffer.from('hello\n'));
        expect(await exits.until(spec)).toMatchObject({ code: 7 });
        expect(await world.lines('aaaaaa')).toEqual(['got hello']);
      });

      it('knows where in the log the output of a running process begins', async () => {
        const first = world.spec('aaaaaa', 'echo one');
        await runtime.start(first);
        await exits.until(first);
        await runtime.acknowledge(first);
        await runtime.start({ ...world.spec('aaaaaa', 'echo two; exec sleep 60'), run: 2 });
        await runtime.release();
        useRuntime();
        const outputFrom = { segment: 1, offset: 4 };
        expect(await runtime.adopt()).toMatchObject([{ run: 2, exit: null, outputFrom }]);
      });

      it('remembers an exit that came while no daemon was there until it is acknowledged', async () => {
        const spec = world.spec('aaaaaa', 'read -r line; exit 5');
        const identity = await runtime.start(spec);
        await runtime.write(spec, Buffer.from('go\n'));
        await runtime.release();
        await untilEnded(identity);
        useRuntime();
        await runtime.adopt();
        // The process has ended before its session's tool says how.
        await until(async () =>
          expect(await runtime.list()).toMatchObject([
            { instanceId: 'aaaaaa', run: 1, exit: { code: 5, signal: null } },
          ]),
        );
        await runtime.release();
        useRuntime();
        expect(await runtime.adopt()).toMatchObject([{ instanceId: 'aaaaaa', exit: { code: 5 } }]);
        await runtime.acknowledge(spec);
        await runtime.acknowledge(spec);
        expect(await runtime.list()).toEqual([]);
      });

      it('adopts nothing where nothing was started, and starts nothing', async () => {
        expect(await runtime.adopt()).toEqual([]);
        expect(await runtime.adopt()).toEqual([]);
      });

      it('refuses to be used after its release, which may be repeated', async () => {
        await runtime.start(world.spec('aaaaaa', 'exec sleep 60'));
        await runtime.release();
        await runtime.release();
        await expect(runtime.start(world.spec('bbbbbb', 'exit 0'))).rejects.toMatchObject({
          code: 'DRV_RUNTIME_UNAVAILABLE',
        });
      });
    });
  });
}
