/** The tmux tool against a real tmux, without a session owner: bytes in, bytes out, exits, and what else lives on the machine. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readProcess } from '../../../src/files/processes.js';
import { tmuxSocket } from '../../../src/runtime/session/tmux/tmux-server.js';
import { hasTool } from '../../support/runtime/process-world.js';
import { TmuxWorld } from '../../support/runtime/tmux-world.js';
import { SmallDisk } from '../../support/templates/small-disk.js';
import { TerminalProgram } from '../../support/terminal-program.js';
import { until } from '../../support/until.js';

/** Prints what it reads, line by line. */
const ECHO = 'while IFS= read -r line; do printf "got %s\\n" "$line"; done';

describe.skipIf(!hasTool('tmux'))('tmux tool', () => {
  let world: TmuxWorld;
  beforeEach(() => {
    // What means something to a shell, to tmux's language and to its formats.
    world = new TmuxWorld("it's $HOME #{pid} %1 [a];");
  });
  afterEach(() => world.close());

  it('keeps all output before the end, and the session is gone', async () => {
    const run = world.run('aaaaaa', 'seq 1 50000; exit 7');
    await world.tool.start(run);
    const { code, output } = await world.untilDied(run);
    const lines = output.split('\n');
    expect([code, lines.length, lines[0], lines[49_999]]).toEqual([7, 50_001, '1', '50000']);
    expect(await world.tool.list()).toEqual(new Set());
  });

  it('loses nothing of programs that write a word and end at once, all at the same time', async () => {
    const runs = Array.from({ length: 24 }, (_, n) => world.run(`aaaa${n + 10}`, `printf end; exit ${n}`));
    await Promise.all(runs.map((run) => world.tool.start(run)));
    const ends = await Promise.all(runs.map((run) => world.untilDied(run)));
    expect(ends.map(({ code, output }) => `${output} ${code}`)).toEqual(runs.map((_, n) => `end ${n}`));
  });

  it('records how the first process of a session ended', async () => {
    const run = world.run('aaaaaa', 'echo hello; exec sleep 60');
    await world.tool.start(run);
    await world.untilOutput(run, 'hello');
    process.kill(world.pids(run).shell, 'SIGKILL');
    // tmux 3.2 does not tell the signal.
    const isTold = !execFileSync('tmux', ['-V'], { encoding: 'utf8' }).startsWith('tmux 3.2');
    expect(await until(() => world.tool.readDied(run) ?? Promise.reject(run))).toEqual({
      code: null,
      signal: isTold ? 9 : null,
    });
    expect(world.read(run).output.toString()).toBe('hello\n');
  });

  it('takes command, environment and directory literally', async () => {
    const odd = `#{pid} "$HOME" \\n %H  ; ~ \n\tü\u{1f600}`;
    const run = world.run('aaaaaa', `printf "%s|%s|%s" "$VALUE" '${odd}' "$PWD"`, { VALUE: odd });
    await world.tool.start(run);
    expect((await world.untilDied(run)).output).toBe(`${odd}|${odd}|${world.root}`);
  });

  it('adds no variable to those that a run is given, and takes none away', async () => {
    const given = { PATH: '/usr/bin:/bin:/odd', TERM: 'dumb', SHELL: '/bin/odd', TMUX: 'mine' };
    const run = world.run('aaaaaa', 'env', given);
    await world.tool.start(run);
    const lines = (await world.untilDied(run)).output.trim().split('\n');
    const own = [`PWD=${world.root}`, 'DROVER_RUN='];
    expect(lines.sort()).toEqual([...own, ...Object.entries(given).map((pair) => pair.join('='))].sort());
  });

  it('keeps what it is told out of the arguments of every process and off the disk', async () => {
    const run = world.run('aaaaaa', 'echo shown; sleep 60', { SECRET: 'open sesame' });
    await world.tool.start(run);
    await world.untilOutput(run, 'shown');
    expect(execFileSync('ps', ['-eo', 'args']).includes('open sesame')).toBe(false);
    const files = readdirSync(world.sessions, { recursive: true, withFileTypes: true }).filter((file) =>
      file.isFile(),
    );
    const texts = files.map((file) => readFileSync(join(file.parentPath, file.name), 'latin1'));
    expect(texts.length).toBeGreaterThan(1);
    expect(texts.join('')).not.toContain('open sesame');
  });

  it('delivers every byte as it is, also while an operator scrolls back', async () => {
    const all = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const run = world.run('aaaaaa', 'stty raw -echo; echo ready; exec od -An -v -tx1 -w256 -N 3584');
    await world.tool.start(run);
    await world.untilOutput(run, 'ready');
    world.tmux('copy-mode', '-t', '=aaaaaa-1:');
    for (let part = 0; part < 2; part++) await world.tool.write(run, Buffer.concat(Array(7).fill(all)));
    const { output } = await world.untilDied(run);
    expect(output.replace(/\s/g, '')).toBe(`ready${all.toString('hex').repeat(14)}`);
  });

  it("writes to the run's program, whatever windows an operator opened and whatever name the session got", async () => {
    const run = world.run('aaaaaa', ECHO);
    await world.tool.start(run);
    world.tmux('new-window', '-t', '=aaaaaa-1:', 'exec sleep 60');
    world.tmux('split-window', '-t', '=aaaaaa-1:', 'exec sleep 60');
    world.tmux('rename-session', '-t', '=aaaaaa-1', 'renamed');
    await world.newTool().write(run, Buffer.from('hello\n'));
    await world.untilOutput(run, 'got hello');
    expect([...(await world.newTool().list())]).toEqual(['aaaaaa-1']);
    await world.tool.remove(run);
    expect([...(await world.tool.list())]).toEqual([]);
  });

  it('refuses input for a session that is not there and for one whose program has ended', async () => {
    const live = world.run('bbbbbb', 'sleep 60');
    const dead = world.run('aaaaaa', 'exit 0');
    await expect(world.tool.write(dead, Buffer.from('x'))).rejects.toThrow('no tmux session aaaaaa-1');
    await world.tool.start(live);
    await world.tool.start(dead);
    await world.untilDied(dead);
    await expect(world.tool.write(dead, Buffer.from('x'))).rejects.toThrow('no tmux session aaaaaa-1');
    expect(world.tmux('list-buffers')).toBe('');
    expect([...(await world.tool.list())]).toEqual(['bbbbbb-1']);
  });

  it('touches neither a session of a similar name nor one that is not its own', async () => {
    const run = world.run('aaaaaa', 'sleep 60');
    const similar = { ...world.run('aaaaaaa', 'sleep 60'), name: 'aaaaaa-11' };
    await world.tool.start(run);
    await world.tool.start(similar);
    world.tmux('new-session', '-d', '-s', 'aaaaaa', 'sleep 60');
    await world.tool.remove(run);
    expect([...(await world.tool.list())]).toEqual(['aaaaaa-11']);
    await world.tool.remove(run);
    expect(world.tmux('list-sessions', '-F', '#{session_name}').trim().split('\n')).toEqual([
      'aaaaaa',
      'aaaaaa-11',
    ]);
  });

  it('says that a name is taken, and leaves its holder alone', async () => {
    const run = world.run('aaaaaa', ECHO);
    await world.tool.start(run);
    const { program } = await until(() => world.pids(run));
    world.tmux('set-option', '-p', '-t', '=aaaaaa-1:', '@run', 'other');
    await expect(world.newTool().start(run)).rejects.toThrow('duplicate session');
    expect(readProcess(program)?.isZombie).toBe(false);
    expect(world.tmux('display-message', '-p', '-t', '=aaaaaa-1:', '#{@run} #{pane_pipe}')).toBe('other 1\n');
    world.tmux('send-keys', '-t', '=aaaaaa-1:', 'hello', 'Enter');
    await world.untilOutput(run, 'got hello');
    expect(world.tool.readDied(run)).toBeUndefined();
  });

  it('refuses an environment that no program can be started with', async () => {
    const long = world.run('aaaaaa', 'exit 0', { LONG: 'x'.repeat(131_072) });
    await expect(world.tool.start(long)).rejects.toThrow('LONG is too long');
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`V${n}`, 'x'.repeat(100_000)]));
    await expect(world.tool.start(world.run('bbbbbb', 'exit 0', many))).rejects.toThrow('too large');
  });

  it('starts a program with 1.8 MB of environment and 60 KB of command', async () => {
    const many = Object.fromEntries(Array.from({ length: 18 }, (_, n) => [`V${n}`, 'x'.repeat(100_000)]));
    const run = world.run('aaaaaa', `: ${'#'.repeat(60_000)}\nprintf %s "$V17" | wc -c`, many);
    await world.tool.start(run);
    expect((await world.untilDied(run)).output.trim()).toBe('100000');
  });

  it('leaves a program alone that redirects all its output', async () => {
    const run = world.run('aaaaaa', 'echo before; exec sleep 60 </dev/null >/dev/null 2>&1');
    await world.tool.start(run);
    await world.untilOutput(run, 'before');
    const other = world.run('bbbbbb', 'exit 3');
    await world.tool.start(other);
    expect(await world.untilDied(other)).toMatchObject({ code: 3 });
    expect(readProcess(world.pids(run).program)?.isZombie).toBe(false);
    expect([...(await world.tool.list())]).toEqual(['aaaaaa-1']);
  });

  it('rotates the spool by itself without losing or cutting a byte', async () => {
    const run = world.run('aaaaaa', 'seq -s " " 1 400000');
    await world.tool.start(run);
    const numbers = (await world.untilDied(run)).output.split(/\s/);
    expect(readdirSync(run.directory).filter((name) => name.startsWith('spool'))).toHaveLength(2);
    expect(numbers.findIndex((number, n) => n < 400_000 && number !== `${n + 1}`)).toBe(-1);
  });

  it.skipIf(!SmallDisk.isPossible)('goes on with a new file once a full disk has space again', async () => {
    const disk = new SmallDisk('8m');
    const full = new TmuxWorld('full', disk.path);
    try {
      const run = full.run('aaaaaa', 'while sleep 0.02; do printf "%306s\\n" line; done');
      await full.tool.start(run);
      await full.untilOutput(run, 'line');
      disk.fill(0);
      // Nothing goes into the last page any more.
      await until(() => expect(statSync(join(run.directory, 'spool.000000')).size % 4096).toBe(0));
      disk.free();
      await until(() => expect(statSync(join(run.directory, 'spool.000001')).size).toBeGreaterThan(306));
    } finally {
      await full.close();
      // What reads the output, and the shell between two programs, end a moment later.
      await until(() => disk.close());
    }
  });

  describe('the server', () => {
    it('leaves with its last session, and a new one comes with the next', async () => {
      const first = world.run('aaaaaa', 'sleep 60');
      await world.tool.start(first);
      const pid = world.serverPid();
      expect(world.tool.isServed(first)).toBe(true);
      await world.tool.remove(first);
      await until(() => expect(readProcess(pid)?.isZombie ?? true).toBe(true));
      expect(readdirSync(world.sockets)).toEqual([]);
      const second = world.run('bbbbbb', 'sleep 60');
      await world.tool.start(second);
      expect([...(await world.tool.list())]).toEqual(['bbbbbb-1']);
    });

    it('is known to be gone when it was killed, with all output in the spool and no exit code', async () => {
      const run = world.run('aaaaaa', 'echo hello; exec sleep 60');
      await world.tool.start(run);
      await world.untilOutput(run, 'hello');
      process.kill(world.serverPid(), 'SIGKILL');
      await until(() => expect(world.tool.isServed(run)).toBe(false));
      expect(world.tool.readDied(run)).toEqual({ code: null, signal: null });
      expect(await world.tool.list()).toEqual(new Set());
      expect(world.read(run).output.toString()).toBe('hello\n');
      const next = world.run('bbbbbb', 'sleep 60');
      await world.tool.start(next);
      expect(world.tool.isServed(next)).toBe(true);
    });

    it('is found again by the next session owner when its socket was removed with its directory', async () => {
      const run = world.run('aaaaaa', ECHO);
      await world.tool.start(run);
      rmSync(world.sockets, { recursive: true });
      const tool = world.newTool();
      expect([...(await tool.list())]).toEqual(['aaaaaa-1']);
      await tool.write(run, Buffer.from('hello\n'));
      await world.untilOutput(run, 'got hello');
      expect(statSync(world.sockets).mode & 0o777).toBe(0o700);
      const next = world.run('bbbbbb', 'sleep 60');
      await tool.start(next);
      expect([...(await world.tool.list())].sort()).toEqual(['aaaaaa-1', 'bbbbbb-1']);
    });

    it('is not the one of another root or of the user', async () => {
      const other = new TmuxWorld();
      try {
        await other.tool.start(other.run('aaaaaa', 'sleep 60'));
        const run = world.run('aaaaaa', 'sleep 60');
        await world.tool.start(run);
        await world.tool.remove(run);
        expect([...(await other.tool.list())]).toEqual(['aaaaaa-1']);
      } finally {
        await other.close();
      }
    });
  });

  describe('an operator who attaches', () => {
    it('with a small terminal sees the program, types to it, and changes no size', async () => {
      const run = world.run('aaaaaa', `stty size; ${ECHO}`);
      await world.tool.start(run);
      await world.untilOutput(run, '50 512');
      // As the README says it.
      const command = ['tmux', '-S', tmuxSocket(world.sockets), 'attach', '-t', `=${run.name}`];
      const terminal = new TerminalProgram(command, {
        environment: { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8', TERM: 'xterm-256color' },
        columns: 40,
        rows: 10,
      });
      try {
        await until(() => expect(terminal.raw).toContain('50 512'));
        terminal.type('typed\r');
        await until(() => expect(terminal.raw).toContain('got typed'));
        expect(
          world.tmux('display-message', '-p', '-t', '=aaaaaa-1:', '#{window_width}x#{window_height}'),
        ).toBe('512x50\n');
        terminal.type('\u0002d');
        expect(await terminal.ended).toBe(0);
        expect(terminal.raw).toContain('[detached');
      } finally {
        terminal.kill();
      }
      await world.tool.write(run, Buffer.from(`${'x'.repeat(300)}\n`));
      await world.untilOutput(run, `got ${'x'.repeat(300)}\n`);
    });
  });
});
