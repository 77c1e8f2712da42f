/**
 * The client's commands that go on, built, over TLS, against a real master: it restarts under them, their readers stand
 * still or go, and people end them. Needs `npm run build`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { type IPty, spawn as spawnOnTerminal } from 'node-pty';
import { afterEach, expect, it } from 'vitest';
import { ClientProcess, type ClientProcessOptions } from '../support/client/client-process.js';
import { CLIENT } from '../support/client/client-program.js';
import { TcpProxy } from '../support/cluster/tcp-proxy.js';
import type { DaemonWorld } from '../support/daemon/daemon.js';
import { shareDaemon } from '../support/daemon/shared-daemon.js';
import { TerminalScreen } from '../support/daemon/terminal-screen.js';
import { hasTool } from '../support/runtime/process-world.js';
import { until } from '../support/until.js';

const ECHO = 'echo ready; while IFS= read -r line; do echo "got $line"; done';
const COLUMNS = 120;

let world: DaemonWorld;
const clients: Client[] = [];
const terminals: Terminal[] = [];
shareDaemon(
  (shared) => {
    world = shared;
  },
  { settings: { apiTls: 'cluster' } },
);
afterEach(() => {
  for (const { child } of clients.splice(0)) child.kill('SIGKILL');
  for (const terminal of terminals.splice(0)) terminal.kill();
});

/** The client as a child, without HOME, in the directory of the master. */
class Client extends ClientProcess {
  constructor(words: readonly string[], options: Omit<ClientProcessOptions, 'directory'> = {}) {
    super(words, { ...options, directory: world.root });
    clients.push(this);
  }
}

/** A program on a terminal of its own. */
class Terminal {
  raw = '';
  readonly exited: Promise<void>;
  readonly #pty: IPty;
  #isRunning = true;

  constructor(words: string) {
    const env = { PATH: process.env.PATH, TERM: 'xterm', DROVER: CLIENT, NODE: process.execPath };
    const options = { cols: COLUMNS, rows: 30, cwd: world.root, env };
    this.#pty = spawnOnTerminal('sh', ['-c', words], options);
    this.#pty.onData((more) => {
      this.raw += more;
    });
    this.exited = new Promise((resolve) => {
      this.#pty.onExit(() => {
        this.#isRunning = false;
        resolve();
      });
    });
    terminals.push(this);
  }

  get pid(): number {
    return this.#pty.pid;
  }

  type(keys: string): void {
    this.#pty.write(keys);
  }

  resize(columns: number, rows: number): void {
    this.#pty.resize(columns, rows);
  }

  untilShown(pattern: RegExp): Promise<void> {
    return until(() => expect(this.raw).toMatch(pattern));
  }

  kill(): void {
    if (this.#isRunning) process.kill(this.pid, 'SIGKILL');
  }
}

async function oneInstance(command: string): Promise<string> {
  world.configure('lobby', { command });
  const [instance] = await world.untilOnline('lobby', 1);
  if (instance === undefined) throw new Error('there is no instance');
  return instance.id;
}

it('logs, wait and --watch go on over a restart of the master, and say so', async () => {
  const id = await oneInstance(ECHO);
  const logs = new Client(['logs', '-f', id]);
  const list = new Client(['instance', 'list', '--watch', '-o', 'name']);
  const waiting = new Client(['wait', 'config', 'lobby', 'later', '--for', 'minimum', '--timeout', '5m']);
  await until(() => expect([logs.lines, list.lines]).toEqual([['ready'], [id]]));
  // It waits for lobby too, so that it says when it is connected: a first connection that fails is not tried again.
  await until(() => expect(waiting.lines).toEqual(['config lobby has its minimum online']));
  await world.api.execute(id, 'one');
  await until(() => expect(logs.lines).toEqual(['ready', 'got one']));
  await world.restart('SIGTERM');
  await world.api.execute(id, 'two');
  await until(() => expect(logs.lines).toEqual(['ready', 'got one', 'got two']));
  // Its lines and its words come through two pipes.
  await until(() =>
    expect(logs.err).toMatch(
      /drover: the connection to \S+ was lost \(.+\): trying again\n(?:drover: .+\n)*drover: connected to \S+ again after .+\ndrover: instance \w+: the log goes on with line 3\n$/,
    ),
  );
  world.configure('later', { command: 'sleep 1000', minimumServiceCount: 1 });
  expect(await waiting.ended).toEqual({ code: 0, signal: null });
  expect(waiting.out).toBe('config lobby has its minimum online\nconfig later has its minimum online\n');
  const [later] = await world.untilOnline('later', 1);
  await until(() => expect(list.lines).toContain(later?.id));

  const ending = new Client(['logs', '-f', id]);
  await until(() => expect(ending.lines).toHaveLength(3));
  await world.api.remove(id);
  expect([await logs.ended, await ending.ended]).toEqual(Array(2).fill({ code: 0, signal: null }));
  expect(ending.err).toBe(`drover: instance ${id} was removed\n`);
});

it('logs and wait go on behind a proxy that cuts them off, and no line is lost or comes twice', async () => {
  const id = await oneInstance(ECHO);
  const proxy = await TcpProxy.start({ port: world.apiPort });
  try {
    const environment = {
      DROVER_URL: `https://127.0.0.1:${proxy.port}`,
      DROVER_KEY_FILE: world.paths.adminKey,
      DROVER_CA: world.paths.apiAuthority,
    };
    const logs = new Client(['logs', '-f', id], { environment });
    const waiting = new Client(['wait', 'instance', 'nobody', id, '--for', 'gone', '--timeout', '5m'], {
      environment,
    });
    await until(() => expect(logs.lines).toEqual(['ready']));
    await until(() => expect(waiting.lines).toEqual(['instance nobody is gone']));
    for (const word of ['one', 'two', 'three']) {
      proxy.cut();
      await world.api.execute(id, word);
      await until(() => expect(logs.lines.at(-1)).toBe(`got ${word}`));
    }
    expect(logs.lines).toEqual(['ready', 'got one', 'got two', 'got three']);
    await until(() => expect(logs.err.match(/connected to \S+ again/g)?.length).toBeGreaterThanOrEqual(3));
    await world.api.remove(id);
    expect([await logs.ended, await waiting.ended]).toEqual(Array(2).fill({ code: 0, signal: null }));
  } finally {
    await proxy.stop();
  }
});

it('wait says why when the time is over', async () => {
  const id = await oneInstance(ECHO);
  const waiting = new Client(['wait', 'instance', id, '--for', 'gone', '--timeout', '1s']);
  expect(await waiting.ended).toEqual({ code: 6, signal: null });
  expect(waiting.out).toBe('');
  expect(waiting.err).toMatch(
    new RegExp(`^drover: instance ${id}: not gone within 1 s\\n${id} \\(lobby\\) is ONLINE[\\s\\S]*\\n$`),
  );
});

it('logs of a pipe that nobody reads loses nothing; a reader that goes and Ctrl-C are quiet', async () => {
  const id = await oneInstance('echo ready; while read -r count; do seq "$count"; done');
  const slow = new Client(['logs', '-f', '--tail', 'all', id], { isRead: false });
  const gone = new Client(['logs', '-f', id], { isRead: false });
  const interrupted = new Client(['logs', '-f', id]);
  await until(() => expect(interrupted.lines).toEqual(['ready']));
  interrupted.child.kill('SIGINT');
  expect(await interrupted.ended).toEqual({ code: null, signal: 'SIGINT' });
  gone.child.stdout?.destroy();
  await world.api.execute(id, '300000');
  expect(await gone.ended).toEqual({ code: 0, signal: null });
  await world.untilLogged(id, /^300000$/);
  slow.read();
  await until(() => expect(slow.lines.at(-1)).toBe('300000'));
  const flood = Array.from({ length: 300_000 }, (_, index) => `${index + 1}\n`).join('');
  // The difference would be as long.
  expect(slow.out === `ready\n${flood}`).toBe(true);
  expect([interrupted.err, gone.err]).toEqual(['', '']);
});

/** A shell that shows the pid of the command, its exit code, and the mode of the terminal behind it. */
const attachTo = (id: string): string =>
  `sh -c 'echo "pid $$ begins"; exec "$NODE" "$DROVER" attach ${id}'; echo "code $?"; stty -a | grep -ow -e -icanon -e icanon; echo over; cat`;

it('attach gives the terminal over and back, whatever ends it', async () => {
  const id = await oneInstance(ECHO);
  const one = new Terminal(attachTo(id));
  await one.untilShown(/ready/);
  one.resize(90, 20);
  one.type('hello\r');
  await one.untilShown(/got hello\r\n/);
  one.type('\x10\x11');
  await one.untilShown(/drover: detached from instance \w+: it goes on\r\ncode 0\r\nicanon\r\nover/);
  const [two, three] = [new Terminal(attachTo(id)), new Terminal(attachTo(id))];
  await Promise.all([two.untilShown(/got hello/), three.untilShown(/got hello/)]);
  process.kill(Number(/pid (\d+) begins/.exec(two.raw)?.[1]), 'SIGTERM');
  await two.untilShown(/code 143\r\nicanon\r\nover/);
  await world.api.remove(id);
  await three.untilShown(/code 0\r\nicanon\r\nover/);
});

for (const runtime of ['screen', 'tmux'])
  it.skipIf(!hasTool(runtime))(
    `attach shows a session of ${runtime}, and leaves its screen behind`,
    async () => {
      world.configure('lobby', { command: ECHO, runtime });
      const [{ id } = { id: '' }] = await world.untilOnline('lobby', 1);
      await world.untilLogged(id, /ready/);
      const terminal = new Terminal(attachTo(id));
      await terminal.untilShown(/ready/);
      terminal.type('hello\r');
      await terminal.untilShown(/got hello/);
      terminal.type('\x10\x11');
      await terminal.untilShown(/detached from instance \w+: it goes on\r\ncode 0\r\nicanon\r\nover/);
      const restored = terminal.raw.slice(terminal.raw.lastIndexOf('got hello'));
      expect(restored).toMatch(/\x1b\[0m\r\ndrover: detached|\x1b\[0m\r\r\ndrover: detached/);
      if (terminal.raw.includes('\x1b[?1049h')) expect(restored).toContain('\x1b[?1049l');
      expect((await world.api.instances('lobby')).map((one) => one.state)).toEqual(['ONLINE']);
    },
  );

it('logs -f ends with an instance that has ended for good, after a last line without its end', async () => {
  world.configure('job', {
    command: 'echo first; read -r line; printf last',
    restartPolicy: 'never',
    minimumServiceCount: 0,
  });
  await world.untilConfigured('job');
  const { id } = await world.api.create('job');
  await world.untilLogged(id, /first/);
  const logs = new Client(['logs', '-f', id]);
  await until(() => expect(logs.lines).toEqual(['first']));
  await world.api.execute(id, 'go');
  expect(await logs.ended).toEqual({ code: 0, signal: null });
  expect([logs.out, logs.err]).toEqual([
    'first\nlast\n',
    `drover: instance ${id} is stopped: its log ends\n`,
  ]);
});

it('--watch draws on a terminal', async () => {
  const id = await oneInstance(ECHO);
  const terminal = new Terminal('"$NODE" "$DROVER" get instances --watch');
  const shown = (): string[] => {
    const screen = new TerminalScreen(COLUMNS);
    screen.write(terminal.raw.split('\x1b[H').at(-1) ?? '');
    return screen.lines;
  };
  await until(() => expect(shown()[1]).toMatch(new RegExp(`^${id} +lobby +ONLINE`)));
  await world.api.send('PATCH', `/instances/${id}/lifecycle?target=stop`);
  await until(() => expect(shown()[1]).toMatch(new RegExp(`^${id} +lobby +STOPPED`)));
  await world.api.send('PATCH', `/instances/${id}/lifecycle?target=start`);
  terminal.type('\x03');
  await terminal.exited;
});

it('refuses what makes no sense, before it asks anybody', async () => {
  const cases: (readonly [number, readonly string[], RegExp])[] = [
    [64, ['logs', 'x', '-f', '--previous'], /--follow/],
    [64, ['logs', 'x', '--tail', 'many'], /whole number, or all/],
    [64, ['wait', 'planet', 'x'], /instance, config, node/],
    [64, ['attach', 'x'], /attach needs a terminal/],
    [3, ['logs', 'nothing'], /no instance and no configuration/],
  ];
  for (const [code, words, problem] of cases) {
    const child = spawn(process.execPath, [CLIENT, ...words], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH },
      cwd: world.root,
    });
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    expect({ words, code: child.exitCode, out }).toEqual({ words, code, out: '' });
    expect(err).toMatch(problem);
  }
});
