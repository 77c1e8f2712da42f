/** The built client in a real shell: completion of names at a terminal, copies through pipes, commands of extensions. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type IPty, spawn } from 'node-pty';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CLIENT, type ClientRun, runClient } from '../support/client/client-program.js';
import { TemporaryHome } from '../support/client/temporary-home.js';
import type { DaemonWorld } from '../support/daemon/daemon.js';
import { shareDaemon } from '../support/daemon/shared-daemon.js';
import { until } from '../support/until.js';

let world: DaemonWorld;
let home: TemporaryHome;
shareDaemon((shared) => {
  world = shared;
});
beforeEach(() => {
  home = new TemporaryHome();
  home.write('bin/drover', `#!/bin/sh\nexec '${process.execPath}' '${CLIENT}' "$@"\n`, 0o755);
});
afterEach(() => home.remove());

const environment = (): NodeJS.ProcessEnv => ({
  ...home.environment,
  PATH: `${home.path}/bin:${process.env.PATH}`,
  TERM: 'dumb',
});

const drover = (...words: string[]): Promise<ClientRun> =>
  runClient(words, { environment: environment(), directory: world.root });

/** A shell at a terminal, without anybody's start files. */
class Shell {
  readonly #pty: IPty;
  shown = '';

  constructor(program: string, words: string[]) {
    this.#pty = spawn(program, words, { cwd: world.root, env: { ...environment(), PS1: '> ' }, cols: 200 });
    this.#pty.onData((text) => {
      // Without highlights.
      this.shown += text.replace(/\x1b\[[\d;?]*[A-Za-z]/g, '');
    });
  }

  type(text: string): void {
    this.#pty.write(text);
  }

  /** Types the line and Tab until it is completed: the master may be slow on a busy machine. */
  async complete(line: string, completed: string): Promise<void> {
    await until(async () => {
      this.shown = '';
      // Ctrl-U takes away what is there.
      this.type(`\x15${line}\t`);
      await until(() => expect(this.shown).toContain(completed), 20_000);
    });
  }

  end(): void {
    this.#pty.kill('SIGKILL');
  }
}

describe('bash', () => {
  it('completes commands, names of instances, contexts, and files', async () => {
    world.configure('lobby', { command: 'sleep 1000' });
    const [instance] = await world.untilOnline('lobby', 1);
    const id = instance?.id ?? '';
    home.writeContexts({ contexts: { productive: { url: 'http://127.0.0.1:1', key: 'drv_12345678' } } });
    mkdirSync(join(world.root, 'templates/world/castle'), { recursive: true });
    writeFileSync(join(world.root, 'templates/world/castle/motd.txt'), 'hello\n');
    const shell = new Shell('bash', ['--norc', '--noprofile']);
    try {
      shell.type('source <(drover completion bash)\r');
      await shell.complete('drover insta', 'drover instance ');
      await shell.complete(`drover instance info ${id.slice(0, 3)}`, `instance info ${id} `);
      await shell.complete('drover context use pro', 'context use productive ');
      await shell.complete('drover cp world/cas', 'cp world/castle:');
      await shell.complete('drover cp world/castle:mo', 'cp world/castle:motd.txt');
      await shell.complete('drover apply -f templ', 'apply -f templates');
    } finally {
      shell.end();
    }
  });

  it('takes a script that other shells take where they are installed', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      const { code, stdout } = await drover('completion', shell);
      expect([shell, code]).toEqual([shell, 0]);
      const script = home.write(`script.${shell}`, stdout);
      const isInstalled = (process.env.PATH ?? '').split(':').some((path) => existsSync(join(path, shell)));
      if (isInstalled) execFileSync(shell, ['-n', script]);
    }
  });

  it('is answered with nothing, and without a word, by a master that cannot be asked', async () => {
    const away = { ...environment(), DROVER_URL: 'http://127.0.0.1:1', DROVER_KEY: 'drv_12345678' };
    for (const line of ['drover instance info ', 'drover cluster why ', 'drover key delete '])
      expect(await runClient(['__complete', line], { environment: away, directory: home.path })).toEqual({
        code: 0,
        stdout: '',
        stderr: '',
      });
  });
});

it('shows ages by the clock of the master where the clock here is wrong by a year', async () => {
  world.configure('lobby', { command: 'sleep 1000' });
  await world.untilOnline('lobby', 1);
  const clock = home.write(
    'clock.mjs',
    'const now = Date.now; Date.now = () => now() + 365 * 86_400_000;\n' +
      'globalThis.Date = class extends Date { constructor(...given) { given.length === 0 ? super(Date.now()) : super(...given); } };\n',
  );
  const wrong = { ...environment(), NODE_OPTIONS: `--import=${clock}` };
  const ran = (...words: string[]) => runClient(words, { environment: wrong, directory: world.root });
  const { code, stdout, stderr } = await ran('instance', 'list');
  expect([code, stderr]).toEqual([0, '']);
  // Minutes on a busy machine; a year by the clock here.
  expect(stdout).toMatch(/ \d+(\.\d)? (s|min) +0/);
  await ran('key', 'create', 'short', 'READ', '--expires', '1h');
  expect((await ran('key', 'list')).stdout).toMatch(/^short .*in (1 h|\d+ min)/m);
  await ran('key', 'delete', 'short', '--yes');
});

describe('drover cp', () => {
  it('copies through pipes, keeps modes, and takes its context before the command', async () => {
    const into = `printf 'one\\ntwo\\n' | drover cp - games/piped:config/list.txt`;
    const out = 'drover cp games/piped:config/list.txt - | head -1';
    const run = (line: string) =>
      execFileSync('bash', ['-c', line], { cwd: world.root, env: environment(), encoding: 'utf8' });
    expect(run(into)).toBe(
      'copied standard input to config/list.txt of template games/piped: 1 file, 8 bytes\n',
    );
    expect(run(out)).toBe('one\n');
    home.write('start.sh', '#!/bin/sh\n', 0o755);
    expect(
      await drover('--root', world.root, 'cp', join(home.path, 'start.sh'), 'games/piped:'),
    ).toMatchObject({ code: 0, stderr: '' });
    const json = await drover('-o', 'json', 'cp', 'games/piped:', join(home.path, 'copy'));
    expect(JSON.parse(json.stdout)).toEqual({ group: 'games', name: 'piped', path: '', files: 2, bytes: 18 });
    expect(execFileSync(join(home.path, 'copy/start.sh'), { encoding: 'utf8' })).toBe('');
    expect(readFileSync(join(home.path, 'copy/config/list.txt'), 'utf8')).toBe('one\ntwo\n');
  });
});
