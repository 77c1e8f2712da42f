/** A log followed from the master: from the node's files, through its wrapper and the channel. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { followLog } from '../../../src/logs/follow.js';
import type { LogPosition } from '../../../src/logs/log-batch.js';
import { readLineTimes, readLogRange } from '../../../src/logs/log-range.js';
import { LogWatches } from '../../../src/logs/log-watches.js';
import { searchLog } from '../../../src/logs/search/log-search.js';
import { SegmentCounts } from '../../../src/logs/segment-counts.js';
import { SegmentWriter } from '../../../src/logs/segment-writer.js';
import { Gate, GatedTransport } from '../../support/cluster/gated-transport.js';
import { ControlPlane } from '../../support/control-plane/control-plane.js';
import { instanceRecord, placedOn } from '../../support/control-plane/records.js';
import { FakeClock } from '../../support/fake-clock.js';
import { LogFiles, LogReader, textOf } from '../../support/runtime/log-files.js';
import { until } from '../../support/until.js';

const RECONNECT_MS = 60_000;

describe('a log followed from the master', () => {
  const record = instanceRecord('abc123', { placement: placedOn('alpha') });
  let clock: FakeClock;
  let gate: Gate;
  let log: LogFiles;
  let watches: LogWatches;
  let plane: ControlPlane;
  let readers: LogReader[];

  beforeEach(async () => {
    clock = new FakeClock();
    gate = new Gate();
    log = new LogFiles();
    // So that a line that comes came by a notice.
    watches = new LogWatches({ safetyPollMs: 3_600_000 });
    readers = [];
    const counts = new SegmentCounts();
    plane = new ControlPlane({
      clock,
      adaptInstallation: (installation) => ({
        ...installation,
        readLogRange: (_id, query) =>
          readLogRange(log.directory, { ...query, now: Date.now() }, new SegmentCounts()),
        searchLog: (_id, query, signal) => searchLog(log.directory, query, signal),
        readLogTimes: (_id, from, to) => readLineTimes(log.directory, from, to),
        followLogs: (_id, position, signal) =>
          followLog(log.directory, position, { counts, watches, signal }),
      }),
      adaptTransport: (transport) => new GatedTransport(transport, gate),
    });
    await plane.start();
    await (await plane.addNode('alpha')).wrapper.whenFed;
  });

  afterEach(async () => {
    for (const reader of readers) await reader.stop();
    await plane.stop();
    await until(() => expect(watches.size).toBe(0));
    log.remove();
  });

  function follow(position: LogPosition): LogReader {
    const reader = new LogReader((signal) => plane.master.streams.followLogs(record, position, signal));
    readers.push(reader);
    return reader;
  }

  it('comes as it is: last lines, gap, empty lines, escape sequences, then live', async () => {
    log.write(11, 'a\n\n\x1b[31mred\x1b[0m \u{1f411}\n');
    const reader = follow({ since: 9 });
    await reader.until('13 \x1b[31mred\x1b[0m \u{1f411}');
    log.write(11, '\n');
    expect(await reader.until('14 ')).toEqual([
      'gap 9-10',
      '11 a',
      '12 ',
      '13 \x1b[31mred\x1b[0m \u{1f411}',
      '14 ',
    ]);
    expect(await follow({ tail: 2 }).until('14 ')).toHaveLength(2);
  });

  it('is asked for by time, and for the times of its lines', async () => {
    const writer = new SegmentWriter(log.directory, { segmentBytes: 4096, segments: 3 });
    writer.write(Buffer.from('one\ntwo\nthree\n'));
    writer.close();
    const { streams } = plane.master;
    const part = { since: { ago: 600_000 }, until: { line: 2 }, previous: false, lines: 1 };
    expect(await streams.readLogRange(record, part)).toMatchObject({
      first: 1,
      last: 2,
      firstLine: 2,
      lines: ['two'],
    });
    expect(
      await streams.readLogRange(record, { ...part, since: { at: Date.now() + 600_000 } }),
    ).toMatchObject({
      lines: [],
      totalLines: 3,
    });
    expect(await streams.readLogTimes(record, 2, 3)).toHaveLength(1);
    const previous = streams.readLogRange(record, { previous: true, lines: 1 });
    await expect(previous).rejects.toMatchObject({ code: 'DRV_RUN_UNKNOWN', status: 404 });
  });

  it('is searched on its node', async () => {
    log.write(1, 'one\ntwo\nthree\n');
    const { streams } = plane.master;
    const found = await streams.searchLog(record, { pattern: 't', ignoreCase: false, limit: 1 });
    expect(found).toEqual({ lines: [{ line: 3, text: 'three' }], next: 3 });
    const nowhere = instanceRecord('abc124', { placement: null });
    const none = await streams.searchLog(nowhere, { pattern: 't', ignoreCase: false, limit: 1 });
    expect(none).toEqual({ lines: [], next: null });
  });

  it('stops for a reader that does not read, and for nobody else', async () => {
    const line = 'x'.repeat(99);
    log.write(1, `${line}\n`.repeat(100_000));
    const stop = new AbortController();
    const idle = plane.master.streams.followLogs(record, { since: 1 }, stop.signal);
    await idle.next();
    const busy = follow({ since: 1 });
    await busy.until(`100000 ${line}`);
    expect(await plane.master.streams.readLogs(record, 1)).toEqual({ lines: [], totalLines: 0 });
    let next = 0;
    for await (const batch of idle) {
      if (batch.kind === 'gap') expect.fail(`a gap: ${textOf(batch).join()}`);
      if (next > 0) expect(batch.firstLine).toBe(next);
      next = batch.firstLine + batch.lines.length;
      if (next > 100_000) break;
    }
    expect(next).toBe(100_001);
  });

  it('ends at the node too when the reader leaves', async () => {
    log.write(1, 'a\n');
    const reader = follow({ since: 1 });
    await reader.until('1 a');
    expect(watches.size).toBe(1);
    await reader.stop();
    await until(() => expect(watches.size).toBe(0));
  });

  it('says that the node went away, and goes on from any line when it is back', async () => {
    log.write(1, 'a\n');
    const stop = new AbortController();
    const batches = plane.master.streams.followLogs(record, { since: 1 }, stop.signal);
    await batches.next();
    const failure = expect(batches.next()).rejects.toMatchObject({ code: 'DRV_NODE_DISCONNECTED' });
    gate.reset();
    await failure;
    const away = plane.master.streams.followLogs(record, { since: 2 }, stop.signal);
    await expect(away.next()).rejects.toMatchObject({ code: 'DRV_NODE_DISCONNECTED' });
    log.write(1, 'b\n');
    await until(async () => {
      await clock.advance(RECONNECT_MS);
      expect(await plane.master.streams.readLogs(record, 1)).toBeDefined();
    });
    expect(await follow({ since: 2 }).until('2 b')).toEqual(['2 b']);
  });

  it('cannot be followed before the instance has a node', async () => {
    const batches = plane.master.streams.followLogs(
      instanceRecord('abc124'),
      { tail: 1 },
      new AbortController().signal,
    );
    await expect(batches.next()).rejects.toMatchObject({
      code: 'DRV_NODE_DISCONNECTED',
      message: 'instance abc124 has no node yet; follow its log when it has one',
    });
  });

  it('is woken by each line that is written, and needs no look of its own', async () => {
    log.write(1, 'a\n');
    const reader = follow({ since: 1 });
    await reader.until('1 a');
    for (let line = 2; line <= 21; line++) {
      log.write(1, `${line}\n`);
      await reader.until(`${line} ${line}`);
    }
  });
});
