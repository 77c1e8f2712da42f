/** What was found in like products, as it would look here (RELIABILITY.md): files outside of the templates. */
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DroverError } from '../../../src/model/errors.js';
import { FakeClock } from '../../support/fake-clock.js';
import { readTree, temporaryDirectory, writeTree } from '../../support/templates/template-trees.js';
import { TemplateWorld } from '../../support/templates/template-world.js';
import { zipOf } from '../../support/templates/zip-bytes.js';

let world: TemplateWorld;
/** What must not change, whatever is tried. */
let outside: string;

beforeEach(async () => {
  world = new TemplateWorld({ clock: new FakeClock(), maxUploadMB: 1 });
  outside = temporaryDirectory();
  writeTree(outside, { 'dir/secret': 'secret', secret: 'secret' });
  chmodSync(join(outside, 'secret'), 0o600);
  await world.start();
  writeTree(join(world.directory, 'games/lobby'), { a: 'x' });
  symlinkSync(join(outside, 'dir'), join(world.directory, 'games/lobby/link'));
});

afterEach(async () => {
  expect(await readTree(outside)).toEqual({ 'dir/': '', 'dir/secret': 'secret', secret: 'secret' });
  expect(statSync(join(outside, 'secret')).mode & 0o777).toBe(0o600);
  await world.stop();
  rmSync(outside, { recursive: true });
});

const bytes = (text: string): Readable => Readable.from([Buffer.from(text)]);

async function codeOf(attempt: Promise<unknown>): Promise<string> {
  return attempt.then(
    () => 'ok',
    (error: unknown) => (error instanceof DroverError ? error.code : String(error)),
  );
}

describe('Wings', () => {
  it('CVE-2023-25152: no file and no directory is created outside by a link in the path', async () => {
    for (const path of ['link/new', 'link/new/deeper/file', 'link/../new'])
      expect(await codeOf(world.local.createFile('games', 'lobby', path, bytes('x')))).toBe(
        'DRV_PATH_UNSAFE',
      );
  });

  it('CVE-2023-25168: deleting by a link, or pruning up to one, deletes nothing outside', async () => {
    for (const path of ['link/secret', 'link'])
      expect(await codeOf(world.local.removeFile('games', 'lobby', path))).toBe('DRV_PATH_UNSAFE');
    await world.local.removeFile('games', 'lobby', 'a');
    expect(readdirSync(join(world.directory, 'games/lobby'))).toEqual(['link']);
  });

  it('CVE-2023-25168: a directory of another group as a link is not replaced by an import, nor what it points to', async () => {
    symlinkSync(outside, join(world.directory, 'linked'));
    const zip = Readable.from([zipOf([{ name: 'secret', content: 'new' }])]);
    expect(await codeOf(world.local.importArchive('linked', 'dir', zip))).toBe('DRV_PATH_UNSAFE');
  });

  it('CVE-2024-27102: a zip brings no link into a template, and follows none that is there', async () => {
    const link = zipOf([{ name: 'out', content: outside, mode: 0o120_777 }]);
    expect(await codeOf(world.local.importArchive('games', 'new', Readable.from([link])))).toBe(
      'DRV_ARCHIVE_INVALID',
    );
    const through = zipOf([{ name: 'link/secret', content: 'new' }]);
    expect(await codeOf(world.local.importArchive('games', 'lobby', Readable.from([through])))).toBe(
      'DRV_TEMPLATE_UNSAFE',
    );
  });

  it("CVE-2024-34066: no path reaches the node's own files", async () => {
    writeFileSync(join(world.root, 'config.json'), '{}');
    mkdirSync(join(world.root, 'data'));
    for (const path of ['../../../config.json', '../../../data/admin.key', `${world.root}/config.json`])
      for (const attempt of [
        world.local.createFile('games', 'lobby', path, bytes('{"nodeId":"x"}')),
        world.local.replaceFile('games', 'lobby', path, bytes('{"nodeId":"x"}')),
      ])
        expect(await codeOf(attempt)).toBe('DRV_PATH_UNSAFE');
    for (const group of ['..', '../..', '.drover'])
      expect(await codeOf(world.local.createFile(group, 'data', 'a', bytes('x')))).toBe(
        'DRV_REQUEST_INVALID',
      );
    expect(readFileSync(join(world.root, 'config.json'), 'utf8')).toBe('{}');
    expect(readdirSync(join(world.root, 'data'))).toEqual([]);
  });

  it('GHSA-rhq6-9rgh-v45c: no mode is changed by a link', async () => {
    symlinkSync(join(outside, 'secret'), join(world.directory, 'games/lobby/program'));
    expect(await codeOf(world.local.replaceFile('games', 'lobby', 'program', bytes('x')))).toBe(
      'DRV_PATH_UNSAFE',
    );
    const zip = zipOf([{ name: 'program', content: 'x', mode: 0o100_755 }]);
    expect(await codeOf(world.local.importArchive('games', 'lobby', Readable.from([zip])))).toBe(
      'DRV_TEMPLATE_UNSAFE',
    );
  });
});
