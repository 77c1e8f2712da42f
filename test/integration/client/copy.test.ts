/** `drover cp` over the API: what goes where with which mode, what is refused, and what a failure leaves behind. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { dirname, join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiClient } from '../../../src/client/api-client.js';
import { HttpConnection } from '../../../src/client/connection/http-connection.js';
import { copy } from '../../../src/client/copy/copy.js';
import { copyOf } from '../../../src/client/copy/copy-places.js';
import { EXIT } from '../../../src/command-tree/runs/client-error.js';
import { ApiWorld } from '../../support/api/api-world.js';
import { listening } from '../../support/client/tls-servers.js';
import { readTree, temporaryDirectory, writeTree } from '../../support/templates/template-trees.js';
import { until } from '../../support/until.js';

let world: ApiWorld;
let here: string;
let api: ApiClient;

beforeEach(async () => {
  world = await new ApiWorld({ configuration: { maxUploadMB: 1 } }).start();
  await world.server.start();
  here = temporaryDirectory();
  api = clientOf(world.url.replace(/\/api$/, ''), world.admin);
});

afterEach(async () => {
  await world.stop();
  rmSync(here, { recursive: true, force: true });
});

function clientOf(url: string, key: string): ApiClient {
  const target = { name: 'prod', kind: 'context', url, trust: { kind: 'system' } } as const;
  return new ApiClient(
    new HttpConnection({ ...target, key: { kind: 'text', key, from: 'it' } }, { version: '0.1.0' }),
  );
}

interface Given {
  readonly stdin?: Readable;
  readonly through?: ApiClient;
  readonly signal?: AbortSignal;
}

/** Copies; a path that begins with `@/` is one here. Resolves with what is printed, and with what stdout got. */
async function cp(from: string, to: string, given: Given = {}): Promise<{ said: unknown; out: string }> {
  const { stdin = Readable.from([]), through = api } = given;
  const stdout = new PassThrough();
  const [source, target] = [from, to].map((path) => path.replace(/^@/, here));
  const shown = await copy(
    through,
    copyOf(source ?? '', target ?? ''),
    { stdin, stdout, stderr: new PassThrough() },
    given.signal ?? new AbortController().signal,
  );
  stdout.end();
  const said = await shown?.text({ columns: undefined, now: 0, isWide: false });
  return { said, out: await text(stdout) };
}

const lobby = (): Promise<Record<string, string>> =>
  readTree(join(world.templates.directory, 'games', 'lobby'));
const put = (tree: Readonly<Record<string, string>>): void =>
  writeTree(join(world.templates.directory, 'games', 'lobby'), tree);

describe('into a template', () => {
  it('a directory goes with its modes and empty directories; other files stay', async () => {
    put({ 'stays.txt': 'old', 'config/a.txt': 'old', 'config/b.txt': 'old' });
    writeTree(join(here, 'in'), { 'a.txt': 'new', '*run.sh': '#!/bin/sh', 'deep/er/c': 'c', 'empty/': '' });
    expect((await cp('@/in', 'games/lobby:config')).said).toBe(
      `copied ${here}/in to config of template games/lobby: 3 files, 13 bytes`,
    );
    expect(await lobby()).toEqual({
      'config/': '',
      'config/a.txt': 'new',
      'config/b.txt': 'old',
      '*config/run.sh': '#!/bin/sh',
      'config/deep/': '',
      'config/deep/er/': '',
      'config/deep/er/c': 'c',
      'config/empty/': '',
      'stays.txt': 'old',
    });
    await cp('@/in', 'games/other:');
    expect(await readTree(join(world.templates.directory, 'games', 'other'))).toEqual(
      await readTree(join(here, 'in')),
    );
  });

  it('a file gets the name that is given, or keeps its own in a directory', async () => {
    writeTree(here, { '*start.sh': 'go', ü: 'umlaut' });
    await cp('@/start.sh', 'games/lobby:bin/run');
    await cp('@/start.sh', 'games/lobby:/bin');
    await cp('@/start.sh', 'games/lobby:new/');
    await cp('@/ü', 'games/lobby:');
    await cp('-', 'games/lobby:from stdin', { stdin: Readable.from([Buffer.from('typed')]) });
    expect(await lobby()).toEqual({
      'bin/': '',
      '*bin/run': 'go',
      '*bin/start.sh': 'go',
      'new/': '',
      '*new/start.sh': 'go',
      'from stdin': 'typed',
      ü: 'umlaut',
    });
  });

  it('refuses links, special files and paths that leave the template, and changes nothing', async () => {
    put({ 'a.txt': 'old' });
    writeTree(join(here, 'in'), { 'a.txt': 'new' });
    symlinkSync('/etc/passwd', join(here, 'in', 'link'));
    await expect(cp('@/in', 'games/lobby:')).rejects.toThrow(/in: link is a symbolic link; a template holds/);
    rmSync(join(here, 'in', 'link'));
    execFileSync('mkfifo', [join(here, 'in', 'pipe')]);
    await expect(cp('@/in', 'games/lobby:')).rejects.toThrow(/pipe is a device, socket or pipe/);
    await expect(cp('@/in/pipe', 'games/lobby:')).rejects.toThrow(/is no file and no directory/);
    rmSync(join(here, 'in', 'pipe'));
    writeFileSync(join(here, 'in', 'a\\b'), '');
    await expect(cp('@/in', 'games/lobby:')).rejects.toThrow(/a\\b holds a backslash/);
    await expect(cp('@/in/a.txt', 'games/lobby:../a.txt')).rejects.toMatchObject({ exitCode: EXIT.usage });
    await expect(cp('@/none', 'games/lobby:')).rejects.toMatchObject({ exitCode: EXIT.notFound });
    await expect(cp('@/in', '@/out')).rejects.toThrow(/neither side is in a template/);
    await expect(cp('games/a:x', 'games/b:x')).rejects.toThrow(/both sides/);
    await expect(cp('-', 'games/lobby:config/')).rejects.toThrow(/say which file/);
    expect(await lobby()).toEqual({ 'a.txt': 'old' });
  });

  it('leaves nothing of a stream that breaks off, of a file that is too large, and of a copy that is interrupted', async () => {
    put({ 'a.txt': 'old' });
    const broken = Readable.from(
      (async function* () {
        yield Buffer.from('half');
        throw new Error('the reader of the tape is broken');
      })(),
    );
    await expect(cp('-', 'games/lobby:a.txt', { stdin: broken })).rejects.toThrow('the tape is broken');
    const random = execFileSync('head', ['-c', `${3 << 20}`, '/dev/urandom'], { maxBuffer: 4 << 20 });
    writeFileSync(join(here, 'large'), random);
    await expect(cp('@/large', 'games/lobby:a.txt')).rejects.toThrow(/larger than/);
    const interrupt = new AbortController();
    const uploads = join(dirname(world.templates.directory), 'uploads');
    const endless = new PassThrough();
    endless.write('begun');
    const copying = cp('-', 'games/lobby:a.txt', { stdin: endless, signal: interrupt.signal });
    await until(async () => expect(Object.keys(await readTree(uploads))).toHaveLength(1));
    interrupt.abort(new Error('Ctrl-C'));
    await expect(copying).rejects.toThrow('Ctrl-C');
    await until(async () => expect(await readTree(uploads)).toEqual({}));
    expect(await lobby()).toEqual({ 'a.txt': 'old' });
  });

  it('needs the scope of the route', async () => {
    const reader = clientOf(world.url.replace(/\/api$/, ''), await world.addKey('reader', 'READ'));
    writeTree(here, { a: 'a' });
    await expect(cp('@/a', 'games/lobby:a', { through: reader })).rejects.toMatchObject({
      exitCode: EXIT.denied,
    });
    put({ b: 'b' });
    expect((await cp('games/lobby:b', '-', { through: reader })).out).toBe('b');
  });
});

describe('out of a template', () => {
  beforeEach(() => put({ 'config/a.txt': 'A', '*config/run.sh': 'run', 'config/empty/': '', 'b.txt': 'B' }));

  it('a directory is new as a whole, or goes into the one that is there', async () => {
    expect((await cp('games/lobby:config', '@/out')).said).toBe(
      `copied config of template games/lobby to ${here}/out: 2 files, 4 bytes`,
    );
    const config = { 'a.txt': 'A', '*run.sh': 'run', 'empty/': '' };
    expect(await readTree(here)).toEqual({ 'out/': '', ...under('out', config) });
    writeTree(join(here, 'there'), { 'a.txt': 'old', own: 'mine' });
    await cp('games/lobby:config/', '@/there');
    expect(await readTree(join(here, 'there'))).toEqual({ ...config, own: 'mine' });
    await cp('games/lobby:', '@/whole');
    expect(await readTree(join(here, 'whole'))).toEqual(await lobby());
  });

  it('a file keeps its mode, goes into a directory under its name, and is written to stdout alone', async () => {
    await cp('games/lobby:config/run.sh', '@/start');
    mkdirSync(join(here, 'bin'));
    await cp('games/lobby:config/run.sh', '@/bin');
    symlinkSync('start', join(here, 'link'));
    await cp('games/lobby:b.txt', '@/link');
    expect(await readTree(here)).toEqual({ 'bin/': '', '*bin/run.sh': 'run', link: '-> start', start: 'B' });
    expect(await cp('games/lobby:config/a.txt', '-')).toEqual({ said: undefined, out: 'A' });
  });

  it('refuses what stands in the way, and changes nothing', async () => {
    writeTree(join(here, 'out'), { 'run.sh/inside': 'mine', 'b.txt': 'old' });
    await expect(cp('games/lobby:config', '@/out')).rejects.toThrow(/run\.sh is a directory, and a file is/);
    rmSync(join(here, 'out', 'run.sh'), { recursive: true });
    symlinkSync('nowhere', join(here, 'out', 'empty'));
    await expect(cp('games/lobby:config', '@/out')).rejects.toThrow(/empty is a link, and a directory is/);
    await expect(cp('games/lobby:config', '@/out/b.txt')).rejects.toMatchObject({ exitCode: EXIT.conflict });
    await expect(cp('games/lobby:b.txt', '/dev/null')).rejects.toThrow(/^\/dev\/null/);
    await expect(cp('games/lobby:b.txt', '@/none/')).rejects.toThrow(/there is no directory/);
    await expect(cp('games/lobby:b.txt', '@/none/b.txt')).rejects.toThrow(/ENOENT/);
    await expect(cp('games/lobby:none', '@/x')).rejects.toMatchObject({ exitCode: EXIT.notFound });
    await expect(cp('games/none:', '@/x')).rejects.toMatchObject({ exitCode: EXIT.notFound });
    await expect(cp('games/lobby:none', '-')).rejects.toMatchObject({ exitCode: EXIT.notFound });
    await expect(cp('games/lobby:', '-')).rejects.toMatchObject({ exitCode: EXIT.usage });
    expect(await readTree(here)).toEqual({ 'out/': '', 'out/b.txt': 'old', 'out/empty': '-> nowhere' });
  });

  it('leaves nothing when the disk refuses, or the answer is cut or no zip', async () => {
    const server = createServer((request, response) => {
      response.writeHead(200, { 'content-type': 'application/zip' });
      if (request.url?.includes('cut')) response.write('PK', () => response.destroy());
      else response.end('no zip');
    });
    const through = clientOf(`http://127.0.0.1:${await listening(server)}`, world.admin);
    try {
      await expect(cp('games/cut:', '@/x', { through })).rejects.toMatchObject({
        exitCode: EXIT.unreachable,
      });
      await expect(cp('games/other:', '@/x', { through })).rejects.toThrow(/the zip was refused/);
    } finally {
      await closed(server);
    }
    expect(await readTree(here)).toEqual({});
  });

  it('takes what packs better than a hundred times, and into a template too', async () => {
    writeFileSync(join(here, 'world.db'), Buffer.alloc(20 * 1024 * 1024));
    await cp('@/world.db', 'games/lobby:');
    await cp('games/lobby:world.db', '@/copy.db');
    expect(statSync(join(here, 'copy.db')).size).toBe(20 * 1024 * 1024);
  });

  it('takes its part of the whole template that an older master sends', async () => {
    const whole = await fetch(`${world.url}/templates/games/lobby/export`, {
      method: 'POST',
      headers: { authorization: `Bearer ${world.admin}` },
    });
    const zip = Buffer.from(await whole.arrayBuffer());
    const server = createServer((_request, response) => response.end(zip));
    const through = clientOf(`http://127.0.0.1:${await listening(server)}`, world.admin);
    try {
      await cp('games/lobby:config', '@/out', { through });
      await expect(cp('games/lobby:none', '@/x', { through })).rejects.toMatchObject({
        exitCode: EXIT.notFound,
      });
    } finally {
      await closed(server);
    }
    expect(await readTree(here)).toEqual(
      under('out', { '': '', 'a.txt': 'A', '*run.sh': 'run', 'empty/': '' }),
    );
  });
});

function under(directory: string, tree: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(tree).map(([path, content]) => [
      path.startsWith('*') ? `*${directory}/${path.slice(1)}` : `${directory}/${path}`,
      content,
    ]),
  );
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
}
