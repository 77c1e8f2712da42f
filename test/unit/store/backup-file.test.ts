/** A backup in which anything was changed is refused, whatever the byte; so is what is no regular file. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { messageOf } from '../../../src/model/errors.js';
import { readBackup, writeBackup } from '../../../src/store/backup-file.js';

const STATE = {
  revision: 7,
  entries: [
    {
      key: 'configurations/lobby',
      revision: 3,
      value: { command: 'sleep 1000', note: 'Zoë\u{1f600}\ufffd' },
    },
    { key: 'history/d', revision: 7, value: ['a\nb', 1.5, null, { 7: 1, a: true }] },
    { key: 'keys/admin', revision: 1, value: { hash: '0a'.repeat(32) } },
  ],
};
let directory: string;
let file: string;
let sound: Buffer;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'drover-backup-'));
  file = join(directory, 'backup');
  await writeBackup(file, STATE);
  sound = readFileSync(file);
});
beforeEach(() => writeFileSync(file, sound));
afterAll(() => rmSync(directory, { recursive: true }));

const refusal = (path = file): Promise<string> =>
  readBackup(path).then(
    () => 'it was read',
    (error: unknown) => messageOf(error),
  );

it('comes back as it was written', async () => {
  expect(await readBackup(file)).toEqual({ ...STATE, isChecked: true });
  await writeBackup(file, { revision: 0, entries: [] });
  expect(await readBackup(file)).toEqual({ revision: 0, entries: [], isChecked: true });
});

it('removes what a backup that was cut off an hour ago left beside it, and nothing younger', async () => {
  const [old, young] = ['0', '1'].map((digit) => join(directory, `.drover-${digit.repeat(16)}.tmp`)) as [
    string,
    string,
  ];
  for (const left of [old, young]) writeFileSync(left, 'hashes of keys');
  utimesSync(old, new Date(0), new Date(0));
  await writeBackup(file, STATE);
  expect(existsSync(old)).toBe(false);
  expect(existsSync(young)).toBe(true);
  rmSync(young);
});

it('is refused in one line when a bit is flipped or a byte is gone or doubled', async () => {
  const at = fc.nat({ max: sound.length - 1 });
  const change = fc.oneof(fc.constantFrom('drop', 'double'), fc.nat({ max: 7 }));
  await fc.assert(
    fc.asyncProperty(at, change, async (place, what) => {
      const byte = sound.readUInt8(place);
      const put = what === 'drop' ? [] : what === 'double' ? [byte, byte] : [byte ^ (1 << Number(what))];
      writeFileSync(
        file,
        Buffer.concat([sound.subarray(0, place), Buffer.from(put), sound.subarray(place + 1)]),
      );
      const message = await refusal();
      expect(message).toMatch(/ is no whole backup of a store: .+; nothing was changed/);
      expect(message).not.toContain('\n');
    }),
    { numRuns: 300 },
  );
});

it('names the record whose checksum is wrong', async () => {
  writeFileSync(file, String(sound).replace('sleep 1000', 'sleep 9000'));
  expect(await refusal()).toContain('the checksum of line 2 is wrong (configurations/lobby)');
});

it('is read in the form without checksums, and says so', async () => {
  const head = { drover: 'store backup', format: 1, revision: 7, entries: 3 };
  writeFileSync(file, `${[head, ...STATE.entries].map((line) => JSON.stringify(line)).join('\n')}\n`);
  expect(await readBackup(file)).toEqual({ ...STATE, isChecked: false });
});

it.each([
  ['another format', '{"drover":"store backup","format":3,"revision":1,"entries":0}\n'],
  ['unknown fields', '{"drover":"store backup","format":1,"revision":1,"entries":0,"a":1,"b":2}\n'],
  ['no JSON', 'not a backup\n'],
  ['nothing', ''],
])('is refused in one line when it has %s', async (_, text) => {
  writeFileSync(file, text);
  const message = await refusal();
  expect(message).toContain(`${file} is no whole backup of a store: `);
  expect(message).not.toContain('\n');
});

it('is never read from or written to what is no regular file', async () => {
  const pipe = join(directory, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const folder = join(directory, 'folder');
  mkdirSync(folder);
  for (const path of [pipe, folder, '/dev/null']) {
    expect(await refusal(path)).toContain('it is not a regular file');
    await expect(writeBackup(path, STATE)).rejects.toMatchObject({
      code: 'DRV_DISK_WRITE_FAILED',
      message: `${path} cannot be written: it is not a regular file`,
    });
  }
});
