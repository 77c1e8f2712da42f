import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, renameSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { generateToken } from '../../../src/access/tokens.js';
import { createLogger, type LoggerOptions, type OpenLogger } from '../../../src/telemetry/logger.js';
import { RotatingFile } from '../../../src/telemetry/rotating-file.js';

let directory: string;
let file: string;
const opened: { close(): void }[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'drover-log-'));
  file = join(directory, 'logs', 'drover.log');
});
afterEach(async () => {
  for (const each of opened.splice(0)) each.close();
  await rm(directory, { recursive: true });
});

async function open(options: Partial<LoggerOptions> = {}): Promise<OpenLogger> {
  const log = await createLogger({ file, terminal: false, level: 'info', ...options });
  opened.push(log);
  return log;
}

const lines = (): Record<string, unknown>[] =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('the log', () => {
  it('writes JSON lines to the file at once, from its level up, with the fields of children', async () => {
    const { logger } = await open();
    logger.debug('not this');
    logger.child({ part: 'store' }).info({ node: 'n1' }, 'opened');
    expect(lines()).toMatchObject([{ level: 30, part: 'store', node: 'n1', msg: 'opened' }]);
  });

  it('hides secret fields at any depth, in children too, and leaves the given objects alone', async () => {
    const { logger } = await open();
    const fields = { headers: { authorization: 'Bearer x', host: 'h' }, list: [{ token: 't' }] };
    logger.child({ apiKey: 'k', environment: { PATH: '/x' } }).info(fields, 'call');
    expect(lines()).toMatchObject([
      {
        apiKey: '***',
        environment: '***',
        headers: { authorization: '***', host: 'h' },
        list: [{ token: '***' }],
      },
    ]);
    expect(fields.headers.authorization).toBe('Bearer x');
  });

  it('cuts out tokens wherever they stand: message, value, error', async () => {
    const { logger } = await open();
    const token = generateToken();
    logger.error({ err: new Error(`bad ${token}`), note: token }, `key ${token} refused`);
    expect(readFileSync(file, 'utf8')).not.toContain(token.slice(4, 20));
    expect(lines()).toMatchObject([{ msg: 'key drv_*** refused', note: 'drv_***' }]);
  });

  it('shows messages on a terminal, errors in detail, coloured only on a TTY', async () => {
    const shown: string[] = [];
    const { logger } = await open({ terminal: { write: (text) => shown.push(text) } });
    logger.warn({ port: 7000 }, 'listening');
    logger.error({ err: new Error('broken'), token: 'secret' }, 'failed');
    expect(shown[0]).toMatch(/^\[\d\d:\d\d:\d\d\.\d+\] WARN: listening\n$/);
    expect(shown[1]).toMatch(/ERROR: failed\n[\s\S]*token: "\*\*\*"[\s\S]*Error: broken\n +at /);

    const coloured: string[] = [];
    const tty = await open({ terminal: { isTTY: true, write: (text) => coloured.push(text) } });
    tty.logger.info('hello');
    expect(coloured.join('')).toContain('\x1b[32mINFO');
  });

  it('lets nothing that was logged steer a terminal, or pass for a line of its own', async () => {
    const shown: string[] = [];
    const { logger } = await open({ terminal: { write: (text) => shown.push(text) } });
    const hostile = 'x\x1b[2J\x9b1m\b\r\n[00:00] INFO: all is well\x07, "msg":"C:\\new \\u001b';
    logger.warn({ note: hostile }, hostile);
    logger.error({ err: new Error(hostile), note: hostile }, hostile);
    const tame = 'x[2J1m [00:00] INFO: all is well, "msg":"C:\\new \\u001b\n';
    expect(shown[0]).toMatch(/^\[[\d:.]+\] WARN: x/);
    expect(shown[0]?.endsWith(tame)).toBe(true);
    expect(shown[1]).toContain(`ERROR: ${tame}`);
    expect(shown.join('')).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
    expect(lines()).toMatchObject([{ msg: hostile, note: hostile }, { msg: hostile }]);
  });

  it('survives a terminal that goes away', async () => {
    const others = new Set(process.stdout.listeners('error'));
    const log = await open({ terminal: true });
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    const own = process.stdout.listeners('error').filter((listener) => !others.has(listener));
    expect(own).toHaveLength(1);
    log.logger.info('hello');
    expect(write).toHaveBeenCalledOnce();
    write.mockRestore();
    expect(() => process.stdout.emit('error', new Error('EPIPE'))).not.toThrow();
    log.close();
    expect(process.stdout.listeners('error').filter((listener) => own.includes(listener))).toEqual([]);
  });

  it('appends to the log of the daemon before', async () => {
    const first = await open();
    first.logger.info('one');
    first.close();
    first.close();
    (await open()).logger.info('two');
    expect(lines().map(({ msg }) => msg)).toEqual(['one', 'two']);
  });
});

/** The files below a directory that this process has open; a removed one ends with " (deleted)". */
function openFilesBelow(directory: string): string[] {
  return readdirSync('/proc/self/fd')
    .flatMap((fd) => {
      try {
        return [readlinkSync(`/proc/self/fd/${fd}`)];
      } catch {
        return [];
      }
    })
    .filter((path) => path.startsWith(directory));
}

describe('the rotating file', () => {
  const lostLine = (count: number): string => `${`${count} lost`.padEnd(29)}\n`;
  const removedLine = (): string => 'removed\n';
  let now = 0;
  const options = { maxBytes: 100, files: 3, lostLine, removedLine, now: () => now };
  function rotating(path = file): RotatingFile {
    const opening = new RotatingFile({ path, ...options });
    opened.push(opening);
    return opening;
  }
  const line = (index: number): string => `${String(index).padStart(29, '0')}\n`;

  it('keeps at most so many files of so many bytes and loses only the oldest lines', () => {
    const log = rotating();
    for (let index = 0; index < 20; index++) log.write(line(index));
    const logs = join(directory, 'logs');
    expect(readdirSync(logs).sort()).toEqual(['drover.log', 'drover.log.1', 'drover.log.2']);
    const kept = ['drover.log.2', 'drover.log.1', 'drover.log'].map((name) =>
      readFileSync(join(logs, name), 'utf8'),
    );
    for (const text of kept) expect(text.length).toBeLessThanOrEqual(100);
    expect(kept.join('')).toBe(Array.from({ length: 8 }, (_, index) => line(index + 12)).join(''));
  });

  it('counts what a full disk swallows and never throws', () => {
    const full = new RotatingFile({ path: '/dev/full', ...options });
    opened.push(full);
    expect(() => full.write(line(1))).not.toThrow();
    full.write(line(2));
    expect(full.lost).toBe(2);
  });

  it.each(['removed', 'renamed'])('is made anew when it was %s from outside, and says so', async (how) => {
    const log = rotating();
    log.write(line(1));
    if (how === 'removed') await rm(join(directory, 'logs'), { recursive: true });
    else renameSync(file, `${file}.mine`);
    now += 1000;
    log.write(line(2));
    log.write(line(3));
    expect(readFileSync(file, 'utf8')).toBe(`removed\n${line(2)}${line(3)}`);
    expect(openFilesBelow(directory)).toEqual([file]);
  });

  it('goes on after a time without a place to write, and says how many lines are missing', async () => {
    const log = rotating();
    for (let index = 0; index < 3; index++) log.write(line(index));
    await rm(join(directory, 'logs'), { recursive: true });
    // Something that is no directory stands in the way of the new file.
    closeSync(openSync(join(directory, 'logs'), 'w'));
    log.write(line(3));
    log.write(line(4));
    expect(log.lost).toBe(2);
    await rm(join(directory, 'logs'));
    rotating();
    log.write(line(5));
    expect(readFileSync(file, 'utf8')).toBe(lostLine(2) + line(5));
  });

  it('throws at once when there is no place to log to', () => {
    closeSync(openSync(join(directory, 'logs'), 'w'));
    expect(() => rotating()).toThrow(/EEXIST|ENOTDIR/);
  });
});
