/** The built client at a terminal of 80 columns: what a person sees of each everyday command. Needs `npm run build`. */
import { stripVTControlCharacters } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CLIENT } from '../support/client/client-program.js';
import { TemporaryHome } from '../support/client/temporary-home.js';
import type { DaemonWorld } from '../support/daemon/daemon.js';
import { shareDaemon } from '../support/daemon/shared-daemon.js';
import { TerminalProgram } from '../support/terminal-program.js';

const COLUMNS = 80;
let world: DaemonWorld;
let home: TemporaryHome;
const programs: TerminalProgram[] = [];
shareDaemon((shared) => {
  world = shared;
});
beforeEach(() => {
  home = new TemporaryHome();
});
afterEach(() => {
  for (const program of programs.splice(0)) program.kill();
  home.remove();
});

/** What a person sees of `drover <words>`, and with which code it ended. */
async function shown(words: string, environment: NodeJS.ProcessEnv = {}) {
  const program = new TerminalProgram(
    ['sh', '-c', `cd '${world.root}' && exec '${process.execPath}' '${CLIENT}' ${words}`],
    { environment: { ...home.environment, PATH: process.env.PATH, TERM: 'xterm', ...environment } },
  );
  programs.push(program);
  const code = await program.ended;
  const [raw = ''] = program.raw.split(/\r?\n<ended/);
  return { code, raw, lines: stripVTControlCharacters(raw).split(/\r?\n/) };
}

async function threeConfigurations(): Promise<string> {
  world.configure('access-log-of-the-lobby', { command: 'echo ready; sleep 1000' });
  for (const name of ['ml-train', 'payments-api']) world.failing.add(name);
  world.configure('ml-train', { command: 'sleep 1000', ramMB: 16_000_000 });
  world.configure('payments-api', { command: 'echo "FATAL: no database"; exit 3' });
  const [instance] = await world.untilOnline('access-log-of-the-lobby', 1);
  await world.untilMessage('ml-train', /short of RAM/);
  await world.untilMessage('payments-api', /exited with code 3/);
  return instance?.id ?? '';
}

it('fits into the window, wraps prose between words, and has colours unless they are unwanted', async () => {
  await threeConfigurations();
  for (const words of [
    ...['instance list', 'config list', 'cluster nodes', 'cluster status', 'context list', 'ps', 'events'],
    ...['history payments-api', 'config why ml-train', 'describe ml-train', 'top --once', 'rollout list'],
  ]) {
    const { code, lines } = await shown(words);
    expect([words, code]).toEqual([words, 0]);
    expect(
      lines.filter((line) => line.length > COLUMNS),
      words,
    ).toEqual([]);
  }
  // The sentence that matters is there as a whole.
  const status = (await shown('cluster status')).lines.map((line) => line.trim()).join(' ');
  expect(status).toMatch(/ml-train .*short of RAM/);
  expect((await shown('instance list')).raw).toContain('\x1b[');
  expect((await shown('instance list', { NO_COLOR: '1' })).raw).not.toContain('\x1b[');
});

it('answers in commands, never in routes, and takes the words that people bring', async () => {
  const id = await threeConfigurations();
  const all: string[] = [];
  for (const words of [
    ...['instance restart payments-api', 'edit config nope', 'cluster drain nope', 'get pods', 'logs nope'],
    ...['rollback payments-api', 'instance get nope', 'restart nope'],
  ]) {
    const { code, lines } = await shown(words);
    expect(code, words).not.toBe(0);
    all.push(...lines);
  }
  expect(all.filter((line) => /\/api\/|\b(?:GET|PUT|POST)\b|required option/.test(line))).toEqual([]);
  expect(all.join(' ')).toContain('"config restart payments-api" restarts them');
  for (const words of ['version', `logs ${id}`, 'wait access-log-of-the-lobby', 'edit ml-train'])
    expect([words, (await shown(words, { EDITOR: 'true' })).code]).toEqual([words, 0]);
  const { lines } = await shown('');
  expect(lines.length).toBeLessThan(60);
  expect(lines.join('\n')).toMatch(/Everyday/);
});
