/** What a master believes of its configuration files while it writes them itself. */
import { mkdtempSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DirectorySource } from '../../../src/configuration-files/source.js';
import { SystemClock } from '../../../src/loop/system-clock.js';

const FILE = 'a.json';
/** Read after the first file, in many steps. */
const OTHERS = Array.from({ length: 128 }, (_, number) => `b${number}.json`);
const said = (name: string, command: string) => JSON.stringify({ name, command });

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'drover-source-'));
  writeFileSync(join(directory, FILE), said('a', 'old'));
  for (const file of OTHERS) writeFileSync(join(directory, file), said(file.slice(0, -5), 'run'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

it.each([
  ['written', () => writeFileSync(join(directory, FILE), said('a', 'new')), 'new'],
  ['removed', () => unlinkSync(join(directory, FILE)), undefined],
])(
  'believes what it was told after a file was %s, also while the directory was being read',
  async (_, change, expected) => {
    let reads = 0;
    let reading: Promise<unknown> | undefined;
    const clock = Object.assign(new SystemClock(), {
      // Asked once for each file that is read: the first one has been by now.
      now: () => {
        if (++reads === 64) {
          change();
          reading = source.readFile(FILE);
        }
        return Date.now();
      },
    });
    const source = new DirectorySource({ nodeId: 'n', directory, logger: pino({ enabled: false }), clock });
    await source.read({ isFinal: false });
    expect(reading).toBeDefined();
    await reading;
    const found = source.files?.get(FILE);
    expect(found?.kind === 'valid' ? found.parsed.configuration.command : undefined).toBe(expected);
  },
);

it('names a file whose name is not UTF-8 as broken, as long as it is there', async () => {
  const path = Buffer.concat([Buffer.from(`${directory}/n`), Buffer.from([0xff]), Buffer.from('.json')]);
  writeFileSync(path, said('n', 'run'));
  const source = new DirectorySource({
    nodeId: 'n',
    directory,
    logger: pino({ enabled: false }),
    clock: new SystemClock(),
  });
  await source.read({ isFinal: true });
  expect(source.files?.get('n\uFFFD.json')).toMatchObject({
    kind: 'broken',
    error: { message: 'its name is not UTF-8, so it is not read: rename it' },
  });
  unlinkSync(path);
  await source.readFile('n\uFFFD.json');
  expect(source.files?.has('n\uFFFD.json')).toBe(false);
});

it('names files once that look like configurations and are not read', async () => {
  const lines: string[] = [];
  for (const name of ['lobby.JSON', 'game.yaml', 'x.jsonc', 'README.md', '.hidden.yml'])
    writeFileSync(join(directory, name), '{}');
  const logger = pino({ level: 'warn' }, { write: (line: string) => lines.push(JSON.parse(line).file) });
  const source = new DirectorySource({ nodeId: 'n', directory, logger, clock: new SystemClock() });
  await source.read({ isFinal: true });
  await source.read({ isFinal: true });
  expect(lines.toSorted()).toEqual(['game.yaml', 'lobby.JSON', 'x.jsonc']);
});
