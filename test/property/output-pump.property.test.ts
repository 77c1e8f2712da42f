/** However often a session owner is killed between spool and log: each byte of output stands in the log once, in order. */
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SegmentWriter } from '../../src/logs/segment-writer.js';
import { segmentsOf } from '../../src/logs/segments.js';
import { OutputPump } from '../../src/runtime/session/output-pump.js';
import { RunDirectory } from '../../src/runtime/session/run-directory.js';
import { spoolName } from '../../src/runtime/session/spool.js';

const text = fc.stringMatching(/^[ab\r\n]{0,40}$/);
const step = fc.oneof(
  { weight: 4, arbitrary: text.map((bytes) => ({ do: 'append' as const, bytes })) },
  { weight: 3, arbitrary: fc.constant({ do: 'pump' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'rotate' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'crash' as const }) },
);
const scenario = fc.record({
  steps: fc.array(step, { maxLength: 60 }),
  segmentBytes: fc.integer({ min: 30, max: 120 }),
  bufferBytes: fc.integer({ min: 5, max: 64 }),
});

it('nothing is lost and nothing doubled', () => {
  fc.assert(
    fc.property(scenario, ({ steps, segmentBytes, bufferBytes }) => {
      const root = fs.mkdtempSync(join(tmpdir(), 'drover-pump-'));
      const logDirectory = join(root, 'log');
      const directory = new RunDirectory(root, { instanceId: 'aaaaaa', run: 1 });
      fs.mkdirSync(directory.directory);
      const buffer = Buffer.alloc(bufferBytes);
      const place = { spool: { file: 0, offset: 0 }, log: null, from: null };
      let log: SegmentWriter | undefined;
      const options = () => {
        // As the end of a process does.
        log?.close();
        log = new SegmentWriter(logDirectory, { segmentBytes, segments: 1000 });
        log.open();
        return { directory, log, logDirectory, place: directory.place ?? place, buffer };
      };
      const findEnd = (bytes: Buffer) => ({ outputBytes: bytes.length, exit: undefined });
      let file = 0;
      let written = '';
      const append = (bytes: string): void => {
        fs.appendFileSync(join(directory.directory, spoolName(file)), bytes);
        written += bytes;
      };
      try {
        let pump = OutputPump.begin(options());
        for (const one of steps) {
          if (one.do === 'append') append(one.bytes);
          else if (one.do === 'pump') pump.run(findEnd);
          else if (one.do === 'crash') pump = OutputPump.resume(options());
          else {
            file++;
            append('');
          }
        }
        append('end\n');
        while (!pump.run(findEnd).isDone);
        const segments = segmentsOf(logDirectory, fs.readdirSync(logDirectory));
        const logged = Buffer.concat(segments.map(({ path }) => fs.readFileSync(path)));
        expect(logged.toString()).toBe(written.replaceAll('\r\n', '\n'));
        const kept = fs.readdirSync(directory.directory).filter((name) => name.startsWith('spool.'));
        expect(kept).toEqual([spoolName(file)]);
        pump.close();
      } finally {
        fs.rmSync(root, { recursive: true });
      }
    }),
    {
      numRuns: 100,
      examples: [
        [
          {
            steps: [
              { do: 'append', bytes: '\r' },
              { do: 'rotate' },
              { do: 'pump' },
              { do: 'rotate' },
              { do: 'append', bytes: '\n' },
            ],
            segmentBytes: 30,
            bufferBytes: 5,
          },
        ],
      ],
    },
  );
});
