/**
 * The pump from spool to log, on real files without a session: borders of files, and an owner that is killed in
 * between.
 */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SegmentWriter } from '../../../src/logs/segment-writer.js';
import { segmentsOf } from '../../../src/logs/segments.js';
import { OutputPump, type OutputPumpOptions } from '../../../src/runtime/session/output-pump.js';
import { RunDirectory } from '../../../src/runtime/session/run-directory.js';
import { endMark, findEnd } from '../../../src/runtime/session/session-prelude.js';
import { spoolName } from '../../../src/runtime/session/spool.js';

const MARK = Buffer.from(endMark('0123456789abcdef'));
const END = `${MARK}code 7;`;
const READY = '\x1e';

describe('output pump', () => {
  let root: string;
  let directory: RunDirectory;
  let logDirectory: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'drover-pump-'));
    directory = new RunDirectory(root, { instanceId: 'aaaaaa', run: 1 });
    logDirectory = join(root, 'log');
    mkdirSync(directory.directory);
  });
  afterEach(() => rmSync(root, { recursive: true }));

  const options = (): OutputPumpOptions => {
    const log = new SegmentWriter(logDirectory, { segmentBytes: 4096, segments: 4 });
    log.open();
    const place = directory.place ?? { spool: { file: 0, offset: 0 }, log: null, from: null };
    return { directory, log, logDirectory, place, buffer: Buffer.alloc(1024) };
  };
  const spool = (file: number, text: string): void =>
    appendFileSync(join(directory.directory, spoolName(file)), text, 'latin1');
  const pumpAll = (pump: OutputPump) => {
    for (;;) {
      const { exit, isDone } = pump.run((bytes) => findEnd(bytes, MARK));
      if (isDone) return exit;
    }
  };
  const logged = (): string =>
    segmentsOf(logDirectory, readdirSync(logDirectory))
      .map(({ path }) => readFileSync(path, 'latin1'))
      .join('');

  it.each(['a\r', 'a\n'])('goes on in a spool file that the tool began again after %j', (before) => {
    const pump = OutputPump.begin(options());
    spool(0, before);
    pumpAll(pump);
    rmSync(join(directory.directory, spoolName(0)));
    pumpAll(pump);
    spool(0, 'b\nc');
    pumpAll(pump);
    spool(0, 'd\n');
    pumpAll(pump);
    pump.close();
    expect(logged()).toBe(`${before.replace('\r', '')}b\ncd\n`);
    expect(directory.place?.spool).toMatchObject({ file: 0 });
  });

  it('finds the end wherever it is cut by the border of two files', () => {
    for (let at = 1; at < END.length; at++) {
      rmSync(directory.directory, { recursive: true });
      rmSync(logDirectory, { recursive: true, force: true });
      mkdirSync(directory.directory);
      const pump = OutputPump.begin(options());
      spool(0, `one\n${END.slice(0, at)}`);
      expect(pumpAll(pump)).toBeUndefined();
      spool(1, END.slice(at));
      expect(pumpAll(pump)).toEqual({ code: 7, signal: null });
      pump.close();
      expect(logged()).toBe('one\n');
    }
  });

  it('goes on after a byte at the end of a file that might have begun the end', () => {
    const pump = OutputPump.begin(options());
    spool(0, `one${READY}`);
    pumpAll(pump);
    spool(1, 'two\n');
    spool(2, `three${READY}${READY}`);
    spool(3, 'four\n');
    pumpAll(pump);
    expect(logged()).toBe(`one${READY}two\nthree${READY}${READY}four\n`);
    expect(existsSync(join(directory.directory, spoolName(2)))).toBe(false);
    pump.close();
  });

  it('takes the one return that the terminal adds to each line, wherever reads and files cut it', () => {
    const pump = OutputPump.begin(options());
    const text = 'unix\ndos\r\n\r\r\nprogress\rdone\n'.repeat(100);
    const shown = text.replaceAll('\n', '\r\n');
    for (let at = 0; at < shown.length; at += 13) {
      spool(at < 1500 ? 0 : 1, shown.slice(at, at + 13));
      if (at % 5 === 0) pumpAll(pump);
    }
    spool(2, `last\r${END}`);
    expect(pumpAll(pump)).toMatchObject({ code: 7 });
    expect(logged()).toBe(`${text}last\r`);
  });

  it('moves each byte once when the session owner is killed at any moment', () => {
    const odd = (n: number): string => (n % 7 === 0 ? READY : n % 5 === 0 ? '\r' : '');
    const wanted = Array.from({ length: 400 }, (_, n) => `line ${n}${odd(n)}\n`).join('');
    const text = wanted.replaceAll('\n', '\r\n');
    let pump = OutputPump.begin(options());
    for (let at = 0, file = 0; at < text.length; at += 97) {
      spool(file, text.slice(at, at + 97));
      if (at % 5 === 0) file++;
      pumpAll(pump);
      // As after SIGKILL: nothing is closed or said.
      if (at % 3 === 0) pump = OutputPump.resume(options());
    }
    expect(pumpAll(pump)).toBeUndefined();
    expect(logged()).toBe(wanted);
  });
});
