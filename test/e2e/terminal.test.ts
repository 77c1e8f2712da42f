/** A node started from a terminal, under a real pty: the prompt, its keys, and what is said without one. Needs `npm run build`. */
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DaemonWorld, failedOf } from '../support/daemon/daemon.js';
import { expectNothingLeft } from '../support/daemon/daemon-invariants.js';
import { TerminalScreen } from '../support/daemon/terminal-screen.js';
import { REPOSITORY } from '../support/repository-root.js';
import { hasTool } from '../support/runtime/process-world.js';
import { TerminalProgram } from '../support/terminal-program.js';
import { until } from '../support/until.js';

const PROGRAM = join(REPOSITORY, 'dist/main.js');
const COLUMNS = 100;

/** The executable on a terminal of its own, as a person sees it. */
class TerminalDaemon {
  readonly #program: TerminalProgram;
  readonly #screen = new TerminalScreen(COLUMNS);

  constructor(...command: string[]) {
    this.#program = new TerminalProgram(command, {
      environment: { PATH: process.env.PATH, HOME: process.env.HOME, TERM: 'xterm', LANG: 'C.UTF-8' },
      columns: COLUMNS,
      rows: 50,
      onOutput: (text) => this.#screen.write(text),
    });
  }

  /** The exit code, once everything that it showed is here. */
  get ended(): Promise<number> {
    return this.#program.ended;
  }

  get lines(): string[] {
    return this.#screen.lines;
  }

  get raw(): string {
    return this.#program.raw;
  }

  type(keys: string): void {
    this.#program.type(keys);
  }

  untilShown(pattern: RegExp): Promise<string> {
    return until(() => {
      const found = this.lines.find((line) => pattern.test(line));
      if (found === undefined) throw new Error(`not on the screen: ${pattern}\n${this.lines.join('\n')}`);
      return found;
    });
  }

  /** Waits until nothing but the prompt and `typed` stands in the last line. */
  untilPrompt(typed = ''): Promise<void> {
    return until(() => expect(this.lines.at(-1)).toBe(`drover> ${typed}`.trimEnd()));
  }

  kill(): void {
    this.#program.kill();
  }
}

let world: DaemonWorld;
let terminal: TerminalDaemon | undefined;
beforeEach(async () => {
  world = await DaemonWorld.create();
});
afterEach(async ({ task }) => {
  if (failedOf(task).isFailed) console.log(terminal?.lines.join('\n'));
  terminal?.kill();
  terminal = undefined;
  await world.finish(failedOf(task));
});

async function startTerminal(): Promise<TerminalDaemon> {
  terminal = new TerminalDaemon(process.execPath, PROGRAM, 'start', '--root', world.root);
  await terminal.untilShown(/console {2}type help/);
  await terminal.untilPrompt();
  return terminal;
}

it('runs commands at a prompt, with completion and history', async () => {
  world.configure('service', { command: 'exec sleep 1000' });
  const screen = await startTerminal();
  screen.type('help\r');
  await screen.untilShown(/^instance create <configuration> \[count\] {2,}\S/);
  await screen.untilPrompt();
  screen.type('inst\t');
  await screen.untilPrompt('instance ');
  screen.type('create serv\t');
  await screen.untilPrompt('instance create service ');
  screen.type('\r');
  const id = /^created (\w{6}) \(service\)/.exec(await screen.untilShown(/^created /))?.[1] ?? '';
  await screen.untilPrompt();
  screen.type('\x1b[A');
  await screen.untilPrompt('instance create service');
  screen.type('\x15instnace\r');
  await screen.untilShown(/^error: unknown command 'instnace'\. Did you mean instance\?$/);
  screen.type(`instance delete ${id}\r`);
  await screen.untilShown(/^instance \w{6} is being removed/);
  screen.type('stop\r');
  expect(await screen.ended).toBe(0);
  await world.start();
  await world.untilOnline('service', 1);
});

it('keeps what is being typed whole while log lines come, also when it is longer than the terminal', async () => {
  const screen = await startTerminal();
  const typed = `instance execute ${'long-'.repeat(30)}x`;
  screen.type(typed);
  const shown = (): string => screen.lines.slice(-2).join('');
  await until(() => expect(shown()).toBe(`drover> ${typed}`));
  for (const name of ['one', 'two', 'three']) {
    world.configure(name, { command: 'exec sleep 1000', minimumServiceCount: 0 });
    await screen.untilShown(new RegExp(`configuration ${name} added`));
  }
  await until(() => expect(shown()).toBe(`drover> ${typed}`));
  const log = screen.lines.filter((line) => line.includes(' added: from '));
  expect(log).toHaveLength(3);
  for (const line of log) expect(line).toMatch(/^\[[\d:.]+\] INFO: configuration \w+ added: from \w+\.json$/);
  expect(screen.lines.filter((line) => line.includes('drover> '))).toHaveLength(1);
  screen.type('\x15stop\r');
  expect(await screen.ended).toBe(0);
});

it('without a terminal has no prompt; the command stop comes over HTTP, is answered, and leaves instances running', async () => {
  world.configure('service', { command: 'exec sleep 1000' });
  await world.start();
  const before = await world.untilOnline('service', 1);
  await until(() => expect(world.daemon.stdout).toContain('Try:'));
  for (const ofPrompt of ['drover>', 'type help', '\x1b'])
    expect(world.daemon.stdout).not.toContain(ofPrompt);
  const { status, text } = await world.api.send('POST', '/commands/execute', { command: 'stop' });
  expect([status, JSON.parse(text)]).toEqual([
    200,
    {
      command: 'stop',
      output: expect.stringMatching(/^Drover stops now on node \S+\. Instances go on running/),
    },
  ]);
  expect(await world.daemon.ended).toEqual({ code: 0, signal: null });
  await world.start();
  const after = await world.untilOnline('service', 1);
  expect(after.map(({ processPid }) => processPid)).toEqual(before.map(({ processPid }) => processPid));
});

it('leaves instances running on the command stop, and says so', async () => {
  world.configure('service', { command: 'exec sleep 1000' });
  const screen = await startTerminal();
  const before = await world.untilOnline('service', 1);
  screen.type('stop\r');
  expect(await screen.ended).toBe(0);
  expect(screen.lines.join('\n')).toMatch(/Drover stops now on node \S+\. Instances go on running/);
  await world.start();
  const after = await world.untilOnline('service', 1);
  expect(after.map(({ processPid }) => processPid)).toEqual(before.map(({ processPid }) => processPid));
});

it('clears a half-typed line on Ctrl-C, says what a second one on an empty line stops, and stops it', async () => {
  world.configure('service', { command: 'exec sleep 1000' });
  const screen = await startTerminal();
  const before = await world.untilOnline('service', 1);
  const id = before[0]?.id ?? '';
  screen.type('instance stop al');
  await screen.untilPrompt('instance stop al');
  screen.type('\x03');
  await screen.untilPrompt();
  const after = await world.api.instances();
  expect(after.map(({ processPid }) => processPid)).toEqual(before.map(({ processPid }) => processPid));
  screen.type('\x03');
  expect(await screen.untilShown(/^Ctrl-C again/)).toMatch(
    `Ctrl-C again within 5 s stops 1 instance (${id}), then Drover; the command "stop" leaves it`,
  );
  await screen.untilPrompt();
  expect(screen.lines.join('\n')).not.toContain('Stopping');
  screen.type('\x03');
  expect(await screen.ended).toBe(0);
  expect(screen.lines.join('\n')).toContain(`Stopping 1 instance: ${id} `);
  expect(screen.lines.join('\n')).toContain('All instances have stopped.');
  await expectNothingLeft(world, []);
});

it('goes on after Ctrl-D, exit and quit, and says how to end it', async () => {
  const screen = await startTerminal();
  for (const [index, keys] of ['\x04', 'exit\r', 'quit\r', '\x04'].entries()) {
    screen.type(keys);
    await until(() =>
      expect(screen.lines.filter((line) => line.startsWith('Drover goes on. "stop" ends'))).toHaveLength(
        index + 1,
      ),
    );
    await screen.untilPrompt();
  }
  screen.type('node info\r');
  await screen.untilShown(/^node {2,}node-a$/);
  screen.type('stop\r');
  expect(await screen.ended).toBe(0);
});

it.skipIf(!hasTool('bash'))(
  'gives the terminal back to the shell on Ctrl-Z, and the prompt comes again with fg',
  async () => {
    terminal = new TerminalDaemon('/bin/bash', '--norc', '-i');
    const screen = terminal;
    screen.type(`PS1='shell$ '; "${process.execPath}" "${PROGRAM}" start --root "${world.root}"\r`);
    await screen.untilShown(/console {2}type help/);
    await screen.untilPrompt();
    screen.type('\x1a');
    await until(() => expect(screen.lines.at(-1)).toBe('shell$'));
    screen.type('fg\r');
    await screen.untilPrompt();
    screen.type('node info\r');
    await screen.untilShown(/^node {2,}node-a$/);
    screen.type('stop\r');
    await until(() => expect(screen.lines.at(-1)).toBe('shell$'));
    screen.type('exit\r');
    await screen.ended;
  },
);

it.skipIf(!hasTool('bash'))(
  'has no prompt as a job in the background, and is not stopped by the system',
  async () => {
    terminal = new TerminalDaemon('/bin/bash', '--norc', '-i');
    const screen = terminal;
    screen.type(`PS1='shell$ '; "${process.execPath}" "${PROGRAM}" start --root "${world.root}" &\r`);
    await screen.untilShown(/stop {5}Ctrl-C stops the instances too/);
    await until(async () => expect(await world.api.instances()).toEqual([]));
    expect(screen.raw).not.toContain('drover> ');
    expect(screen.raw).not.toContain('type help');
    screen.type('kill -TERM %1\r');
    await screen.untilShown(/INFO: Drover has ended/);
    screen.type('\rexit\r');
    await screen.ended;
  },
);
