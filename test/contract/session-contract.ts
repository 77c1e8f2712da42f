/**
 * The promises of screen and tmux runtimes beyond those of all runtimes. The death of a session owner loses,
 * doubles and ends nothing, and nothing else on the machine is touched.
 */
import { readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readProcess } from '../../src/files/processes.js';
import { segmentsOf } from '../../src/logs/segments.js';
import type { KeptRuntime } from '../../src/runtime/owner/kept-runtime.js';
import type { RunId } from '../../src/runtime/runtime.js';
import { ExitWatch } from '../support/exit-watch.js';
import { type SessionWorld, TOOL_PATH } from '../support/runtime/session-world.js';
import { SmallDisk } from '../support/templates/small-disk.js';
import { until } from '../support/until.js';

const NUMBERED_LINES = 1_500_000;
const SPOOL_BYTES = 1024 * 1024;
export function testSessions(open: () => SessionWorld): void {
  describe('sessions', () => {
    let world: SessionWorld;
    let runtime: KeptRuntime;
    let exits: ExitWatch;

    const useRuntime = (): void => {
      runtime = world.runtime();
      exits = new ExitWatch(runtime);
    };
    beforeEach(() => {
      world = open();
      useRuntime();
    });
    afterEach(() => world.close());

    const untilLogged = (instanceId: string, text: string): Promise<void> =>
      until(async () => expect(await world.lines(instanceId)).toContain(text));
    const logFiles = (instanceId: string): string[] => {
      const directory = world.logDirectory(instanceId);
      return segmentsOf(directory, readdirSync(directory)).map(({ path }) => path);
    };
    const logBytes = (instanceId: string): Buffer =>
      Buffer.concat(logFiles(instanceId).map((path) => readFileSync(path)));
    const logSize = (instanceId: string): number =>
      logFiles(instanceId).reduce((sum, path) => sum + statSync(path).size, 0);
    const killOwner = async (): Promise<void> => {
      const pid = world.sessionOwner();
      process.kill(pid, 'SIGKILL');
      await until(() => expect(world.sessionOwners()).not.toContain(pid));
    };

    describe('what the program gets', () => {
      it('is all of a long input, byte for byte, when it reads late', async () => {
        const lines = Array.from({ length: 5000 }, (_, index) => `${String(index).padStart(11, '.')}\n`);
        const bytes = Buffer.from(lines.join(''));
        const spec = world.spec('aaaaaa', 'until [ -e go ]; do sleep 0.05; done; head -c 60000 >got');
        await runtime.start(spec);
        await runtime.write(spec, bytes);
        writeFileSync(join(world.workingDirectory, 'go'), '');
        expect(await exits.until(spec)).toMatchObject({ code: 0 });
        expect(readFileSync(join(world.workingDirectory, 'got')).equals(bytes)).toBe(true);
      });

      it('is a terminal so wide that no line is wrapped', async () => {
        const spec = world.spec('aaaaaa', 'stty size');
        await runtime.start(spec);
        await exits.until(spec);
        const [rows, columns] = (await world.lines('aaaaaa')).join('').split(' ').map(Number);
        expect(columns).toBeGreaterThanOrEqual(200);
        expect(rows).toBeGreaterThanOrEqual(24);
      });

      it('is its signal or exit code as it is, also where a shell makes them alike', async () => {
        const ends = ['exit 137', 'kill -TERM $$', 'exit 0', 'kill -SEGV $$'];
        const told = [];
        for (const [index, command] of ends.entries()) {
          const spec = world.spec(`aaaaa${index}`, command);
          await runtime.start(spec);
          const { code, signal } = await exits.until(spec);
          told.push(code ?? signal);
        }
        expect(told).toEqual([137, 'SIGTERM', 0, 'SIGSEGV']);
      });

      it('does not delay its exit when a child of its holds the terminal', async () => {
        const spec = world.spec('aaaaaa', 'trap "" HUP; (exec sleep 60) & echo bye; exit 4');
        const startedAt = performance.now();
        await runtime.start(spec);
        expect(await exits.until(spec)).toMatchObject({ code: 4 });
        expect(performance.now() - startedAt).toBeLessThan(30_000);
        expect(await world.lines('aaaaaa')).toEqual(['bye']);
      });
    });

    describe('the death of the session owner', () => {
      it('is not noticed by instances, and their daemon goes on with the next session owner', async () => {
        const spec = world.spec('aaaaaa', 'echo up; while read -r line; do echo "got $line"; done; exit 3');
        const identity = await runtime.start(spec);
        await untilLogged('aaaaaa', 'up');
        await killOwner();
        await until(() => runtime.write(spec, Buffer.from('one\n')));
        await untilLogged('aaaaaa', 'got one');
        expect(await runtime.list()).toMatchObject([
          { instanceId: 'aaaaaa', run: 1, process: identity, exit: null },
        ]);
        await runtime.signal(spec, 'SIGKILL');
        expect(await exits.until(spec)).toMatchObject({ code: null, signal: 'SIGKILL' });
        expect(exits.of(spec)).toHaveLength(1);
      });

      it('and of the daemon lose no output and no exit of the time until the next ones', async () => {
        // The programs wait for the file, which is made when neither owner nor daemon is there any more.
        const gate = join(world.root, 'gate');
        const wait = `echo before; while [ ! -e ${gate} ]; do sleep 0.05; done; seq 1 5000`;
        const ends = world.spec('aaaaaa', `${wait}; exit 6`);
        const stays = world.spec('bbbbbb', `${wait}; read -r line; exit 7`);
        const { pid } = await runtime.start(ends);
        const identity = await runtime.start(stays);
        await untilLogged('aaaaaa', 'before');
        await untilLogged('bbbbbb', 'before');
        await runtime.release();
        await killOwner();
        writeFileSync(gate, '');
        await until(() => expect(readProcess(pid)).toBeUndefined());
        useRuntime();
        expect(await runtime.adopt()).toEqual(
          expect.arrayContaining([
            expect.objectContaining({ instanceId: 'aaaaaa', exit: expect.objectContaining({ code: 6 }) }),
            expect.objectContaining({ instanceId: 'bbbbbb', run: 1, process: identity, exit: null }),
          ]),
        );
        await untilLogged('bbbbbb', '5000');
        const numbers = Array.from({ length: 5000 }, (_, n) => `${n + 1}`);
        expect(await world.lines('aaaaaa')).toEqual(['before', ...numbers]);
        expect(await world.lines('bbbbbb')).toEqual(['before', ...numbers]);
        await runtime.write(stays, Buffer.from('end\n'));
        expect(await exits.until(stays)).toMatchObject({ code: 7 });
      });

      it('shows no value of a secret that is printed until the next one, whether or not the program lives then', async () => {
        const [value, other] = ['hunter2-value', 'sesame-open'];
        const gate = join(world.root, 'gate');
        const command = `echo before; while [ ! -e ${gate} ]; do sleep 0.05; done; echo "<$V>"; echo "$W"`;
        const given = { hidden: [value, other], environment: { PATH: TOOL_PATH, V: value, W: other } };
        const ends = world.spec('aaaaaa', `${command}; exit 6`, given);
        const stays = world.spec('bbbbbb', `${command}; read -r line; exit 7`, given);
        const { pid } = await runtime.start(ends);
        await runtime.start(stays);
        await untilLogged('aaaaaa', 'before');
        await untilLogged('bbbbbb', 'before');
        await runtime.release();
        await killOwner();
        writeFileSync(gate, '');
        await until(() => expect(readProcess(pid)).toBeUndefined());
        useRuntime();
        await runtime.adopt();
        const cover = (text: string): string => '*'.repeat(text.length);
        await untilLogged('bbbbbb', cover(other));
        expect(await world.lines('bbbbbb')).toEqual(['before', `<${cover(value)}>`, cover(other)]);
        // The values went with the session's shell: so all that it had left is covered.
        await untilLogged('aaaaaa', cover(other));
        expect(await world.lines('aaaaaa')).toEqual(['before', cover(`<${value}>`), cover(other)]);
        await runtime.write(stays, Buffer.from('end\n'));
        expect(await exits.until(stays)).toMatchObject({ code: 7 });
      });

      it('again and again in the midst of 11 MB neither loses nor doubles a byte', async () => {
        const spec = world.spec('aaaaaa', `read -r line; seq 1 ${NUMBERED_LINES}; exit 0`);
        await runtime.start(spec);
        await runtime.write(spec, Buffer.from('go\n'));
        for (let megabytes = 1; megabytes <= 7; megabytes += 2) {
          await until(() => expect(logSize('aaaaaa')).toBeGreaterThan(megabytes * 1024 * 1024));
          await killOwner();
          await until(() => expect(world.sessionOwners()).toHaveLength(1));
        }
        await until(() => expect(exits.of(spec)).toMatchObject([{ code: 0 }]));
        const expected = Buffer.from(
          `${Array.from({ length: NUMBERED_LINES }, (_, n) => n + 1).join('\n')}\n`,
        );
        expect(logBytes('aaaaaa').equals(expected)).toBe(true);
      });

      it('leaves nothing behind once everything was acknowledged', async () => {
        const spec = world.spec('aaaaaa', 'exit 0');
        await runtime.start(spec);
        await exits.until(spec);
        expect(world.kept()).toEqual(['aaaaaa.1']);
        await runtime.acknowledge(spec);
        await until(() => expect(world.kept()).toEqual([]));
        await runtime.release();
        await until(() => expect(world.sessionOwners()).toEqual([]));
        await until(() => expect(world.toolServers()).toEqual([]));
      });
    });

    it.skipIf(!SmallDisk.isPossible)(
      'are forgotten when a disk that was read-only takes writes again',
      async () => {
        const disk = new SmallDisk('8m');
        try {
          symlinkSync(disk.path, world.options.sessionsDirectory);
          const spec = world.spec('aaaaaa', 'exit 0');
          await runtime.start(spec);
          await exits.until(spec);
          await until(() => disk.remount('ro'));
          await runtime.acknowledge(spec);
          await runtime.release();
          expect(world.sessionOwners()).toHaveLength(1);
          disk.remount('rw');
          await until(() => expect(world.sessionOwners()).toEqual([]));
          expect(world.kept()).toEqual([]);
        } finally {
          await until(() => disk.close());
        }
      },
    );

    describe('the spool', () => {
      it('is exchanged under load, so that it stays small', async () => {
        const spec = world.spec('aaaaaa', 'seq 1 1000000; read -r line');
        await runtime.start(spec);
        await until(() => expect(logSize('aaaaaa')).toBe(6_888_896));
        expect(logBytes('aaaaaa').toString('latin1').endsWith('\n1000000\n')).toBe(true);
        expect(logBytes('aaaaaa').toString('latin1').split('\n')).toHaveLength(1_000_001);
        const files = (): string[] =>
          readdirSync(world.runDirectory('aaaaaa')).filter((name) => name.startsWith('spool.'));
        await until(() => {
          const bytes = files().map((name) => statSync(join(world.runDirectory('aaaaaa'), name)).size);
          expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThan(5 * SPOOL_BYTES);
        });
      });
    });

    describe('the directories of the runs', () => {
      it('are made anew when they are removed: console, output, owner and exit go on', async () => {
        const command = 'echo up; while read -r line; do echo "got $line"; done';
        const spec = world.spec('aaaaaa', command);
        await runtime.start(spec);
        await untilLogged('aaaaaa', 'up');
        rmSync(dirname(world.runDirectory('aaaaaa')), { recursive: true });
        const next = world.spec('bbbbbb', 'read -r line; exit 2');
        await runtime.start(next);
        await untilLogged(
          'aaaaaa',
          '[drover] the directory of this run was removed: what was written since the last line here may be lost',
        );
        await until(() => runtime.write(spec, Buffer.from('one\n')));
        await untilLogged('aaaaaa', 'got one');
        await runtime.release();
        await killOwner();
        useRuntime();
        expect(await runtime.adopt()).toHaveLength(2);
        await until(() => runtime.write(spec, Buffer.from('two\n')));
        await untilLogged('aaaaaa', 'got two');
        expect((await world.lines('aaaaaa')).filter((line) => line.startsWith('got'))).toEqual([
          'got one',
          'got two',
        ]);
        await runtime.write(next, Buffer.from('\n'));
        expect(await exits.until(next)).toMatchObject({ code: 2 });
        await runtime.signal(spec, 'SIGKILL');
        await exits.until(spec);
        await runtime.acknowledge(spec);
        await runtime.acknowledge(next);
        await until(() => expect(world.toolServers()).toEqual([]));
      });
    });

    describe('the death of the server', () => {
      it('is told as a hang-up, and the instance can be started again', async () => {
        const spec = world.spec('aaaaaa', 'echo up; exec sleep 60');
        await runtime.start(spec);
        await untilLogged('aaaaaa', 'up');
        for (const pid of world.toolServers()) process.kill(pid, 'SIGKILL');
        expect(await exits.until(spec)).toMatchObject({ code: null, signal: 'SIGHUP' });
        await runtime.acknowledge(spec);
        const next = world.spec('aaaaaa', 'exit 2', { run: 2 });
        await runtime.start(next);
        expect(await exits.until(next)).toMatchObject({ code: 2 });
      });

      it('while nobody was there is told to the next daemon', async () => {
        const spec = world.spec('aaaaaa', 'echo up; exec sleep 60');
        await runtime.start(spec);
        await untilLogged('aaaaaa', 'up');
        await runtime.release();
        await killOwner();
        for (const pid of world.toolServers()) process.kill(pid, 'SIGKILL');
        useRuntime();
        expect(await runtime.adopt()).toMatchObject([
          { instanceId: 'aaaaaa', run: 1, exit: { code: null, signal: 'SIGHUP' } },
        ]);
      });
    });

    describe('what was there before', () => {
      it('a reboot is reported as gone, and processes that have its numbers now are not touched', async () => {
        const spec = world.spec('aaaaaa', 'echo last words; exec sleep 60');
        const { pid } = await runtime.start(spec);
        await untilLogged('aaaaaa', 'last words');
        await runtime.release();
        await killOwner();
        changeBoot(world.runDirectory('aaaaaa'));
        useRuntime();
        const run: RunId = { instanceId: 'aaaaaa', run: 1 };
        expect(await runtime.adopt()).toMatchObject([{ ...run, exit: { code: null, signal: null } }]);
        expect(readProcess(pid)?.isZombie).toBe(false);
        await runtime.acknowledge(run);
        await until(() => expect(world.kept()).toEqual([]));
        expect(await world.lines('aaaaaa')).toEqual(['last words']);
      });

      it('in another root by the same name goes its own way', async () => {
        const other = open();
        try {
          const theirs = other.runtime();
          const spec = world.spec('aaaaaa', 'while read -r line; do echo "got $line"; done');
          await runtime.start(spec);
          await theirs.start(other.spec('aaaaaa', 'while read -r line; do echo "got $line"; done'));
          await runtime.write(spec, Buffer.from('mine\n'));
          await untilLogged('aaaaaa', 'got mine');
          await runtime.signal(spec, 'SIGKILL');
          await exits.until(spec);
          await runtime.acknowledge(spec);
          await theirs.write(spec, Buffer.from('theirs\n'));
          await until(async () => expect(await other.lines('aaaaaa')).toEqual(['got theirs']));
        } finally {
          await other.close();
        }
      });
    });

    describe('the offer', () => {
      it('names the version, and goes and comes with the tool', async () => {
        const { tool } = world.options;
        expect(await runtime.probe()).toMatchObject({
          available: true,
          version: expect.stringMatching(/^\d/),
          reason: null,
        });
        const without = world.runtime({ path: '/nowhere' });
        expect(await without.probe()).toMatchObject({
          available: false,
          version: null,
          reason: expect.stringContaining(`${tool} is not installed`),
        });
      });
    });
  });
}

/** Makes the machine look as if it had been started anew. */
function changeBoot(runDirectory: string): void {
  const path = join(runDirectory, 'run.json');
  const record: object = JSON.parse(readFileSync(path, 'utf8'));
  writeFileSync(path, JSON.stringify({ ...record, bootId: 'an earlier one' }));
}
