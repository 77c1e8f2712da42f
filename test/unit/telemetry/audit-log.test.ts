import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { auditEntrySchema } from '../../../src/model/audit.js';
import { AuditLog } from '../../../src/telemetry/audit-log.js';

let directory: string;
let path: string;
let now: number;
const warnings: unknown[] = [];
const logs: AuditLog[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'drover-audit-'));
  path = join(directory, 'audit.log');
  now = 1000;
});
afterEach(() => {
  for (const log of logs.splice(0)) log.close();
  warnings.length = 0;
  rmSync(directory, { recursive: true });
});

function open(file = path): AuditLog {
  const log = new AuditLog({
    path: file,
    now: () => now++,
    logger: { warn: (text: unknown) => warnings.push(text) },
  });
  logs.push(log);
  return log;
}
const entry = (subject: string | null) => ({
  key: 'boss',
  action: 'PUT /configurations/:name',
  subject,
  address: '10.0.0.1',
  result: '204',
});
const subjects = (log: AuditLog, count = 1000) => log.last(count).map(({ subject }) => subject);

describe('the audit log', () => {
  it('writes a line for every entry, for the owner alone', () => {
    const log = open();
    log.record(entry('a'));
    log.record({ ...entry(null), key: null });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
    expect(lines.map((line) => auditEntrySchema.parse(JSON.parse(line)))).toEqual([
      { at: 1000, ...entry('a') },
      { at: 1001, ...entry(null), key: null },
    ]);
    expect(log.last(10)).toEqual(lines.map((line) => JSON.parse(line)));
    expect(subjects(log, 1)).toEqual([null]);
    expect(subjects(log, 0)).toEqual([]);
  });

  it('knows the entries of earlier runs, a line that a crash cut off excepted', () => {
    const first = open();
    for (const subject of ['a', 'b', 'c']) first.record(entry(subject));
    first.close();
    appendFileSync(path, '{"at":1,"key":"bo');
    const second = open();
    second.record(entry('d'));
    expect(subjects(second)).toEqual(['a', 'b', 'c', 'd']);
    expect(subjects(open())).toEqual(['a', 'b', 'c', 'd']);
  });

  it('keeps the last 1,000 entries in memory, and reads as many at the start', () => {
    const log = open();
    for (let index = 0; index < 2500; index++) log.record(entry(`n${index}`));
    expect(log.last(5000)).toHaveLength(1000);
    expect(subjects(log, 2)).toEqual(['n2498', 'n2499']);
    expect(subjects(open())).toEqual(subjects(log));
  });

  it('is bounded by rotation to four files, and reads over their borders', () => {
    writeFileSync(path, `${'x'.repeat(8 * 1024 * 1024)}\n`);
    for (const index of [1, 2, 3]) writeFileSync(`${path}.${index}`, `old ${index}\n`);
    const line = JSON.stringify({ at: 1, ...entry('before') });
    appendFileSync(path, `${line}\n`);
    const log = open();
    log.record(entry('after'));
    expect(readdirSync(directory).sort()).toEqual(['audit.log', 'audit.log.1', 'audit.log.2', 'audit.log.3']);
    expect(readFileSync(`${path}.2`, 'utf8')).toBe('old 1\n');
    expect(statSync(path).size).toBeLessThan(1000);
    expect(subjects(open())).toEqual(['before', 'after']);
  });

  it('cuts what is long, and never holds a token', () => {
    const log = open();
    log.record({ ...entry('x'.repeat(100_000)), action: `GET ${'y'.repeat(100_000)}` });
    log.record(entry(`execute drv_${'A'.repeat(36)}`));
    expect(statSync(path).size).toBeLessThan(2000);
    expect(readFileSync(path, 'utf8')).toContain('execute drv_***');
    expect(readFileSync(path, 'utf8') + JSON.stringify(log.last(2))).not.toContain('drv_AAAA');
  });

  it('holds nothing that steers the terminal of who reads it', () => {
    const log = open();
    log.record({ ...entry('games/a\nb\x1b[2J\x9b1m\u202e.txt'), action: 'GET \x1b]0;title\x07x' });
    expect(log.last(1)).toEqual([{ at: 1000, ...entry('games/a b.txt'), action: 'GET x' }]);
    expect(readFileSync(path, 'utf8')).not.toMatch(/\\u00|\\n|[\x00-\x09\x0b-\x1f\x7f-\x9f]/);
  });

  it('loses entries on a full disk, counted, and says so once in the log and once in itself', () => {
    // Every write to it fails with ENOSPC.
    const log = open('/dev/full');
    for (const subject of ['a', 'b', 'c']) log.record(entry(subject));
    expect(warnings).toEqual(['audit entries are being lost: logs/audit.log cannot be written']);
    expect(subjects(log)).toEqual(['a', 'b', 'c']);
  });

  it('takes entries after it was closed, in memory only', () => {
    const log = open();
    log.close();
    log.close();
    log.record(entry('late'));
    expect(subjects(log)).toEqual(['late']);
    expect(readFileSync(path, 'utf8')).toBe('');
  });

  it('refuses to start on a path that is no file, and says which', () => {
    expect(() => open(directory)).toThrow(`${directory} cannot be used: EISDIR`);
    expect(() => open(directory)).toThrow(expect.objectContaining({ code: 'DRV_NODE_ROOT_UNUSABLE' }));
  });
});
