/**
 * The promise of screen and tmux sessions to people who attach: a terminal as any other. What Drover sends reaches the
 * program unchanged all the same.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type IPty, spawn } from 'node-pty';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KeptRuntime } from '../../src/runtime/owner/kept-runtime.js';
import { RunDirectory } from '../../src/runtime/session/run-directory.js';
import { ExitWatch } from '../support/exit-watch.js';
import { type SessionWorld, TOOL_PATH } from '../support/runtime/session-world.js';
import { until } from '../support/until.js';

/** Prints what it reads, line by line. */
const ECHO = 'while IFS= read -r line; do echo "got $line"; done';

/** How an operator attaches, as docs/runtimes.md says it. */
interface AttachCommand {
  readonly file: string;
  readonly parameters: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** The keys that leave the session again. */
  readonly leave: string;
}

export function testTyping(
  open: () => SessionWorld,
  attachCommand: (world: SessionWorld, instanceId: string) => AttachCommand,
): void {
  describe('typing', () => {
    let world: SessionWorld;
    let runtime: KeptRuntime;
    let exits: ExitWatch;

    beforeEach(() => {
      world = open();
      runtime = world.runtime();
      exits = new ExitWatch(runtime);
    });
    afterEach(() => world.close());

    const untilLogged = (instanceId: string, text: string): Promise<void> =>
      until(async () => expect(await world.lines(instanceId)).toContain(text));

    describe('an operator who attaches', () => {
      let operator: IPty | undefined;
      let seen: string;
      let left: Promise<unknown>;
      const attach = (instanceId: string): IPty => {
        const { file, parameters, environment } = attachCommand(world, instanceId);
        const env = { PATH: TOOL_PATH, TERM: 'xterm', LC_ALL: 'C.UTF-8', ...environment };
        const terminal = spawn(file, [...parameters], { cols: 80, rows: 24, env });
        operator = terminal;
        seen = '';
        terminal.onData((text) => {
          seen += text;
        });
        left = new Promise((resolve) => terminal.onExit(resolve));
        return terminal;
      };
      const untilSeen = (text: string): Promise<void> => until(() => expect(seen).toContain(text));
      afterEach(async () => {
        operator?.kill();
        await left;
        operator = undefined;
      });

      it('types as in any terminal, sees what is typed, and leaves again', async () => {
        const spec = world.spec('aaaaaa', `echo ready; ${ECHO}`);
        const identity = await runtime.start(spec);
        await untilLogged('aaaaaa', 'ready');
        const terminal = attach('aaaaaa');
        await untilSeen('ready');
        terminal.write('by hanx');
        await untilSeen('by hanx');
        terminal.write('\x7fd\r');
        await untilLogged('aaaaaa', 'got by hand');
        await untilSeen('got by hand');
        terminal.write(attachCommand(world, 'aaaaaa').leave);
        await left;
        await runtime.write(spec, Buffer.from('by Drover\n'));
        await untilLogged('aaaaaa', 'got by Drover');
        expect(await runtime.list()).toEqual([
          { instanceId: 'aaaaaa', run: 1, process: identity, exit: null },
        ]);
      });

      it('does not spoil what Drover sends, even in the midst of a line, and Drover does not spoil the next line', async () => {
        const spec = world.spec('aaaaaa', `echo ready; ${ECHO}`);
        await runtime.start(spec);
        await untilLogged('aaaaaa', 'ready');
        const terminal = attach('aaaaaa');
        await untilSeen('ready');
        terminal.write('half');
        await untilSeen('half');
        await runtime.write(spec, Buffer.from('one\x03\x04\x15\n'));
        const printed = async (): Promise<string[]> =>
          (await world.lines('aaaaaa')).filter((line) => line.includes('one'));
        await until(async () => expect(await printed()).toHaveLength(1));
        await until(() => expect(isLiteral(world, 'aaaaaa')).toBe(false));
        terminal.write('two\r');
        await untilLogged('aaaaaa', 'got two');
        // screen would stop the program's output for 5 s while it shows an answer of its own.
        expect(seen).not.toContain('(sh)');
        // Behind what the terminal wrote to take the half line away.
        expect(await printed()).toEqual([expect.stringMatching(/(?:^|\x08)got one\x03\x04\x15$/)]);
      });

      it('ends the program with Ctrl-C, which Drover sends as a byte', async () => {
        const spec = world.spec('aaaaaa', `echo ready; ${ECHO}`);
        await runtime.start(spec);
        await runtime.write(spec, Buffer.from('\x03\n'));
        await untilLogged('aaaaaa', 'got \x03');
        await until(() => expect(isLiteral(world, 'aaaaaa')).toBe(false));
        const terminal = attach('aaaaaa');
        await untilSeen('ready');
        terminal.write('\x03');
        expect(await exits.until(spec)).toMatchObject({ code: 130 });
      });
    });

    describe('what Drover sends', () => {
      it('reaches a program that rules its terminal itself, with nothing added', async () => {
        const spec = world.spec('aaaaaa', 'stty raw -echo; echo ready; exec od -An -v -tx1 -N 4');
        await runtime.start(spec);
        await untilLogged('aaaaaa', 'ready');
        await runtime.write(spec, Buffer.from('a\x03b\n'));
        await exits.until(spec);
        expect(await world.lines('aaaaaa')).toEqual(['ready', ' 61 03 62 0a']);
      });

      it('waits unchanged for a program that reads late, in a terminal for people', async () => {
        const gate = join(world.root, 'gate');
        const wait = `while [ ! -e ${gate} ]; do sleep 0.05; done`;
        const spec = world.spec('aaaaaa', `${wait}; head -c 6 | od -An -v -tx1; ${ECHO}`);
        await runtime.start(spec);
        await runtime.write(spec, Buffer.from('\x03\x04\r\n'));
        await until(() => expect(isLiteral(world, 'aaaaaa')).toBe(false));
        await runtime.write(spec, Buffer.from('\x15\n'));
        writeFileSync(gate, '');
        await untilLogged('aaaaaa', ' 03 04 0d 0a 15 0a');
      });

      it('leaves a terminal for people even if its owner died while it sent', async () => {
        const spec = world.spec('aaaaaa', `echo ready; ${ECHO}`);
        await runtime.start(spec);
        await untilLogged('aaaaaa', 'ready');
        execFileSync('stty', ['-F', terminalOf(world, 'aaaaaa'), 'extproc']);
        process.kill(world.sessionOwner(), 'SIGKILL');
        await until(() => expect(world.sessionOwners()).toEqual([]));
        await until(() => runtime.list());
        await until(() => expect(isLiteral(world, 'aaaaaa')).toBe(false));
      });
    });
  });
}

/** The terminal device of a run. */
function terminalOf(world: SessionWorld, instanceId: string): string {
  const { terminal } = new RunDirectory(dirname(world.runDirectory(instanceId)), { instanceId, run: 1 });
  if (terminal === undefined) throw new Error(`${instanceId} has no terminal`);
  return terminal;
}

/** True while a run's terminal passes on every byte as it is. */
function isLiteral(world: SessionWorld, instanceId: string): boolean {
  const said = execFileSync('stty', ['-F', terminalOf(world, instanceId), '-a'], { encoding: 'utf8' });
  return !said.includes(' -extproc');
}
