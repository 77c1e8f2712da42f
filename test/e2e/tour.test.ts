/**
 * docs/minecraft.md and the commands of docs/secrets.md, typed as they stand there in bash; only ports are others, and stand-ins
 * take the place of sops, age and vault. Needs `npm run build`.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DaemonWorld, failedOf } from '../support/daemon/daemon.js';
import { freePorts } from '../support/free-ports.js';
import { fencesOf } from '../support/repository/markdown.js';
import { read } from '../support/repository/pages.js';
import { REPOSITORY } from '../support/repository-root.js';
import { until } from '../support/until.js';

/** A file of the page: its path in bold on a line, and its content in a fence. */
const FILE = /^\*\*([\w./-]+)\*\*\n\n```\w*\n(.*?)^```$/gms;
const SHELL = /^```sh\n(.*?)^```$/gms;

let world: DaemonWorld;
let programs: string;
let receiver: ChildProcess | undefined;

beforeEach(async () => {
  world = await DaemonWorld.create();
  programs = mkdtempSync(join(tmpdir(), 'drover-tour-'));
  stands('drover', `exec node ${join(REPOSITORY, 'dist/main.js')} "$@"`);
});
afterEach(async ({ task }) => {
  receiver?.kill('SIGKILL');
  receiver = undefined;
  await world.finish(failedOf(task));
  rmSync(programs, { recursive: true });
});

const environment = () => ({ PATH: `${programs}:${process.env.PATH}`, HOME: programs });

/** Types a block; what it prints. Throws with its errors when its last command, or any other, fails. */
async function type(block: string): Promise<string> {
  const options = { cwd: world.paths.root, env: environment() };
  return (await promisify(execFile)('bash', ['-e', '-o', 'pipefail', '-c', block], options)).stdout;
}

function stands(name: string, script: string): void {
  writeFileSync(join(programs, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(programs, name), 0o755);
}

describe('docs/minecraft.md', () => {
  it('is a server with its files, ports and password, which comes back, is told of and restarts every night', async () => {
    const from = await freePorts(3);
    const page = [25_565, 25_575, 9000].reduce(
      (text, port, index) => text.replaceAll(String(port), String(from + index)),
      read('docs/minecraft.md'),
    );
    const files = new Map([...page.matchAll(FILE)].map(([, path = '', text = '']) => [path, text]));
    const place = (path: string): void => {
      const file = join(world.paths.root, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, files.get(path) ?? expect.fail(`the page has no ${path}`));
    };
    const [password, look, seen, chat, crash, nightly, change, ...rest] = [...page.matchAll(SHELL)].map(
      ([, block = '']) => block,
    );
    expect(rest).toEqual([]);
    await world.start();

    place('templates/games/block/server.mjs');
    place('templates/games/block/server.properties');
    expect(await type(password ?? '')).toMatch(/^secret block\/rcon is set.*\nNAME .*\nblock\/rcon +value /);
    place('configurations/block.json');
    expect(await type(look ?? '')).toMatch(/block +ONLINE .*\nA block server\n$/);

    const shown = await type(seen ?? '');
    expect(shown).toMatch(/^welcome\n/);
    expect(shown).toContain(`somebody said ${'*'.repeat(24)}\n`);
    expect(shown).toContain('"rcon.password": "%SECRET:block/rcon%"');

    receiver = spawn('bash', ['-c', `exec ${(chat ?? '').trim()}`], {
      env: environment(),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let heard = '';
    receiver.stdout?.setEncoding('utf8').on('data', (text: string) => {
      heard += text;
    });
    await until(() => fetch(`http://127.0.0.1:${from + 2}/`));
    place('webhooks/chat.json');
    await until(async () => expect(await type('drover webhook list')).toContain('chat'));
    const told = await type(crash ?? '');
    expect(told).toMatch(/of block exited with code 1 on /);
    expect(told).toContain('region r.0.0.mca is corrupt');
    await until(() => expect(heard).toMatch(/"content":.*block/));
    expect(heard).not.toContain('%');

    expect(await type(nightly ?? '')).toMatch(/nightly/);
    await until(async () => expect(await type('drover logs block')).toContain('Saving the world'));
    expect(await type(change ?? '')).toMatch(/^rcon.password=a better password$/m);
    expect(await type('drover config why block')).toContain('block is as it should be: 1 instance ONLINE');
  });
});

describe('docs/secrets.md', () => {
  it('has commands that set, list, change and use a secret, whatever its source', async () => {
    const page = read('docs/secrets.md');
    const typed = fencesOf(page)
      .filter(({ language }) => language === 'console')
      .map(({ lines }) => lines.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2)));
    const [[set = '', list = ''] = [], sources = []] = typed;
    expect(typed).toHaveLength(2);
    const [content = ''] = fencesOf(page)
      .filter(({ language }) => language === 'json')
      .map(({ lines }) => lines.join('\n'));
    writeFileSync(join(world.paths.root, 'password.txt'), 'of a file\n');
    stands('sops', '[ "$1 $2" = "decrypt --extract" ] && echo of sops');
    stands('age', '[ "$1 $2" = "-d -i" ] && echo of age');
    stands('vault', '[ "$1 $2 $3" = "kv get -field=password" ] && printf "of vault"');
    await world.start({ prefix: ['env', `PATH=${programs}:${process.env.PATH}`] });
    expect(await type(set)).toBe('secret db/password is set; what runs gets it at its next start\n');
    await type('echo x | drover secret set rcon; echo y | drover secret set tls/key');
    world.configure('survival', {
      ...JSON.parse(content),
      runtime: 'process',
      maskSecrets: false,
      command: 'echo "$DB_PASSWORD"; cat config/tls.key; exec sleep 1000',
    });
    const [{ id = '' } = {}] = await world.untilOnline('survival', 1);
    expect(await type(list)).toMatch(/^NAME +SOURCE +AGE +BY +USED BY\ndb\/password +value .* survival\n/);
    const last = async (): Promise<string | undefined> =>
      (await world.api.logs(id)).findLast((line) => line.startsWith('of '));
    await until(async () => expect(await last()).toBe('of a file'));

    mkdirSync(join(programs, 'secrets'));
    writeFileSync(join(programs, 'secrets/db-password'), 'of a node\n');
    const wanted = ['of a node', 'of sops', 'of age', 'of vault'];
    expect(sources).toHaveLength(wanted.length);
    for (const [index, command] of sources.entries()) {
      await type(command.replace('/run/secrets', join(programs, 'secrets')));
      await type('drover config restart survival && drover wait rollout survival --for complete');
      await until(async () => expect(await last()).toBe(wanted[index]));
    }
    await expect(type('drover secret remove db/password --yes')).rejects.toThrow('used by survival');
  });
});
