/** Rows of the API contract, section Templates, on a real daemon. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fromBuffer } from 'yauzl';
import { ZipFile } from 'yazl';
import { refusal } from '../../support/api/refusal.js';
import { RowWorld } from './rows.js';

const TEMPLATE = '/templates/games/lobby';
const FILES = `${TEMPLATE}/files`;
/** A storage provider as operators add one: a folder with an ES module. */
const EXTENSION = `
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
export default {
  activate(context) {
    context.registerStorage('shelf', {
      version: async (group, name) => (group === 'games' ? 'v1 of ' + name : null),
      download: async (group, name, directory) => {
        await writeFile(join(directory, 'from-shelf.txt'), group + '/' + name);
      },
    });
  },
};
`;

let world: RowWorld;
beforeAll(async () => {
  world = await RowWorld.start((daemon) => {
    const files = { 'readme.txt': 'hello', 'maps/one.map': '1', 'run.sh': '#!/bin/sh\n' };
    daemon.template('games', 'lobby', files);
    daemon.template('games', 'arena', files);
    const folder = join(daemon.root, 'extensions', 'shelf');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'index.mjs'), EXTENSION);
  });
});
afterAll(() => world.stop());

describe('Templates', () => {
  it('GET /templates: 200 array of {group: string, templates: Template[]}', async () => {
    const { status, json } = await world.call('GET /templates');
    expect([status, json]).toEqual([
      200,
      [
        {
          group: 'games',
          templates: [
            expect.objectContaining({
              group: 'games',
              name: 'arena',
              storage: 'local',
              priority: expect.any(Number),
            }),
            expect.objectContaining({ group: 'games', name: 'lobby' }),
          ],
        },
      ],
    ]);
  });

  it('GET /templates/{group}/{name}: 200 {group, name, path: string, exists: boolean}', async () => {
    const { status, json } = await world.call(`GET ${TEMPLATE}`);
    expect([status, json]).toEqual([
      200,
      { group: 'games', name: 'lobby', path: expect.stringContaining('templates/games/lobby'), exists: true },
    ]);
  });

  it('GET /templates/{group}/{name}: an unknown template is 200 with exists false', async () => {
    const { status, json } = await world.call('GET /templates/games/nope');
    expect([status, json]).toEqual([200, expect.objectContaining({ name: 'nope', exists: false })]);
  });

  it('GET /templates/{group}/{name}/files: 200 {group, name, files: string[]}, flat list of relative paths', async () => {
    const { status, json } = await world.call('GET /templates/games/arena/files');
    const files = ['maps/one.map', 'readme.txt', 'run.sh'];
    expect([status, json]).toEqual([200, { group: 'games', name: 'arena', files }]);
  });

  it('GET /templates/{group}/{name}/files: 404 for an unknown template', async () => {
    expect((await world.call('GET /templates/games/nope/files')).status).toBe(404);
  });

  it('GET /templates/{group}/{name}/files/{path}: 200 raw file content as text/plain', async () => {
    const { status, headers, bytes } = await world.call(`GET ${FILES}/readme.txt`);
    expect([status, headers['content-type'], bytes.toString()]).toEqual([
      200,
      expect.stringMatching(/^text\/plain/),
      'hello',
    ]);
  });

  it('GET /templates/{group}/{name}/files/{path}: {path} is relative to the template root, its slashes encoded or not', async () => {
    for (const path of ['maps/one.map', 'maps%2Fone.map']) {
      expect((await world.call(`GET ${FILES}/${path}`)).bytes.toString()).toBe('1');
    }
  });

  it('GET /templates/{group}/{name}/files/{path}: 404 when the path is not a file', async () => {
    for (const path of ['nope.txt', 'maps', 'readme.txt/more']) {
      const { status, json } = await world.call(`GET ${FILES}/${path}`);
      expect([path, status, json]).toEqual([path, 404, refusal()]);
    }
  });

  it('POST /templates/{group}/{name}/files/{path}: 201 object for any content as application/octet-stream', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, value) => value));
    const { status, json } = await world.call(`POST ${FILES}/new/all.bin`, {
      body: bytes,
      headers: { 'content-type': 'application/octet-stream' },
    });
    expect([status, json]).toEqual([201, expect.objectContaining({ path: 'new/all.bin' })]);
    expect((await world.call(`GET ${FILES}/new/all.bin`)).bytes).toEqual(bytes);
  });

  it('POST /templates/{group}/{name}/files/{path}: 409 when the file already exists', async () => {
    const { status, json } = await world.call(`POST ${FILES}/readme.txt`, { body: 'other' });
    expect([status, json]).toEqual([409, refusal()]);
    expect((await world.call(`GET ${FILES}/readme.txt`)).bytes.toString()).toBe('hello');
  });

  it('PATCH /templates/{group}/{name}/files/{path}: 200 object with the affected path; replaces an existing file', async () => {
    const { status, json } = await world.call(`PATCH ${FILES}/run.sh`, {
      body: 'echo new',
      headers: { 'content-type': 'text/plain' },
    });
    expect([status, json]).toEqual([200, expect.objectContaining({ path: 'run.sh' })]);
    expect((await world.call(`GET ${FILES}/run.sh`)).bytes.toString()).toBe('echo new');
  });

  it('DELETE /templates/{group}/{name}/files/{path}: 200 object with the deleted path', async () => {
    await world.call(`POST ${FILES}/short-lived.txt`, { body: 'x' });
    const { status, json } = await world.call(`DELETE ${FILES}/short-lived.txt`);
    expect([status, json]).toEqual([200, expect.objectContaining({ path: 'short-lived.txt' })]);
    expect((await world.call(`GET ${FILES}/short-lived.txt`)).status).toBe(404);
  });

  it('POST /templates/{group}/{name}/export: 200 application/zip binary', async () => {
    const { status, headers, bytes } = await world.call('POST /templates/games/arena/export');
    expect([status, headers['content-type']]).toEqual([200, 'application/zip']);
    expect(await namesIn(bytes)).toEqual(expect.arrayContaining(['maps/one.map', 'readme.txt', 'run.sh']));
  });

  it('POST /templates/{group}/{name}/export: 404 when the template does not exist', async () => {
    expect((await world.call('POST /templates/games/nope/export')).status).toBe(404);
  });

  it('POST /templates/{group}/{name}/import: 200 object; unpacks the zip into the template, overwriting existing files', async () => {
    await world.call('POST /templates/games/imported/files/readme.txt', { body: 'old' });
    const { status, json } = await world.call('POST /templates/games/imported/import', {
      body: await zipOf({ 'readme.txt': 'new', 'deep/er.txt': '2' }),
      headers: { 'content-type': 'application/zip' },
    });
    expect([status, json]).toEqual([200, expect.objectContaining({})]);
    const read = async (path: string) =>
      (await world.call(`GET /templates/games/imported/files/${path}`)).bytes.toString();
    expect([await read('readme.txt'), await read('deep/er.txt')]).toEqual(['new', '2']);
  });

  it('POST /templates/{group}/{name}/sync: 200 object; downloads the latest version from the provider', async () => {
    const { status, json } = await world.call('POST /templates/games/synced/sync', {
      body: { storage: 'shelf' },
    });
    expect([status, json]).toEqual([200, expect.objectContaining({})]);
    const file = await world.call('GET /templates/games/synced/files/from-shelf.txt');
    expect(file.bytes.toString()).toBe('games/synced');
  });

  it('POST /templates/{group}/{name}/sync: 400 when the provider key is not registered', async () => {
    const { status, json } = await world.call(`POST ${TEMPLATE}/sync`, { body: { storage: 'nowhere' } });
    expect([status, json]).toEqual([400, refusal(expect.stringContaining('nowhere'))]);
  });

  it('POST /templates/{group}/{name}/sync: 400 when storage, which is required, is missing', async () => {
    expect((await world.call(`POST ${TEMPLATE}/sync`, { body: {} })).status).toBe(400);
  });

  it('POST /templates/sync: 200 object; dispatches a sync task to the cluster, for group/* or group/name', async () => {
    for (const pattern of ['games/*', 'games/lobby']) {
      const { status, json } = await world.call('POST /templates/sync', { body: { pattern } });
      expect([status, json]).toEqual([200, expect.objectContaining({ pattern })]);
    }
  });

  it('Storage providers are contributed by extensions', async () => {
    const { json } = await world.call('POST /commands/execute', { body: { command: 'extension list' } });
    expect(json).toMatchObject({ output: expect.stringContaining('shelf') });
  });
});

function zipOf(files: Readonly<Record<string, string>>): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [path, text] of Object.entries(files)) zip.addBuffer(Buffer.from(text), path);
  zip.end();
  return buffer(zip.outputStream);
}

function namesIn(bytes: Buffer): Promise<string[]> {
  return new Promise((resolve, reject) => {
    fromBuffer(bytes, { lazyEntries: false }, (error, zip) => {
      if (error !== null) return reject(error);
      const names: string[] = [];
      zip.on('entry', ({ fileName }) => names.push(fileName));
      zip.on('error', reject);
      zip.on('end', () => resolve(names));
    });
  });
}
