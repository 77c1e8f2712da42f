/**
 * The node's side of `why`: the supervisor's account of a run, the ends that a node remembers, and their last
 * lines.
 */
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { describeRun } from '../../../controllers/wrapper/process-supervisor/description.js';
import type { SupervisorFacts } from '../../../controllers/wrapper/process-supervisor/goal.js';
import { plan } from '../../../controllers/wrapper/process-supervisor/plan.js';
import { afterExit } from '../../../controllers/wrapper/process-supervisor/restart-delay.js';
import { describePastRuns } from '../../../controllers/wrapper/services.js';
import { SegmentWriter } from '../../../src/logs/segment-writer.js';
import { readSpanLines } from '../../../src/logs/tail.js';
import type { LogPlace } from '../../../src/model/run/past-exit.js';
import type { StopSignal } from '../../../src/model/stopping.js';
import type { Problem } from '../../../src/node/handle.js';
import { HandleBook } from '../../../src/node/handle-book.js';
import { WriteBehind } from '../../../src/node/write-behind.js';
import {
  checkFor,
  desired,
  down,
  handle,
  ID,
  remaining,
  running,
  supervisorFacts,
} from '../../support/control-plane/wrapper-facts.js';
import { FakeClock } from '../../support/fake-clock.js';
import { MemoryStore } from '../../support/store/memory-store.js';

const NOW = 100_000;
const SPAN = { from: { segment: 1, offset: 0 }, to: { segment: 1, offset: 9 } };

describe('what a supervisor says of a run', () => {
  const stopping = (signal: StopSignal, agoMs: number) => ({
    signal,
    begunAt: 0,
    signalledAt: NOW - agoMs,
    since: NOW - agoMs,
  });
  const problem = { reason: 'port-busy', message: 'held', busyPort: 30000, busyProtocol: 'tcp' } as const;

  const late = (ms: number, problem: Problem | null = null) =>
    down({ next: { problem, delay: { until: NOW + ms, ms } } });

  it('is nothing before it has a handle', () => {
    expect(describeRun(supervisorFacts({ handle: undefined }), NOW)).toBeUndefined();
  });

  it.each<[string, Partial<SupervisorFacts>, object]>([
    [
      'a process that is up',
      { handle: running() },
      { pid: 42, upForMs: NOW, goal: 'run', run: 1, stop: null },
    ],
    [
      'failures to be forgotten',
      { handle: running({ streak: 3 }, { since: NOW - 12_000 }) },
      { failuresInARow: 3, forgivenInMs: 48_000, retryInMs: null },
    ],
    ['failures of an instance that is down', { handle: handle({ streak: 3 }) }, { forgivenInMs: null }],
    [
      'failures of a process that its runtime has not confirmed',
      { handle: running({ streak: 3 }, { since: null }) },
      { forgivenInMs: null, upForMs: null },
    ],
    [
      'a stop under way',
      { handle: running({}, { stopping: stopping('SIGTERM', 3000) }), desired: desired({ goal: 'stop' }) },
      { goal: 'stop', stop: { signal: 'SIGTERM', sentAgoMs: 3000, killInMs: 7000 } },
    ],
    [
      'one that was sent SIGKILL',
      { handle: running({}, { stopping: stopping('SIGKILL', 200) }), desired: desired({ goal: 'stop' }) },
      { stop: { signal: 'SIGKILL', sentAgoMs: 200, killInMs: null } },
    ],
    [
      'one that began with a command',
      {
        handle: running(
          { stop: { command: 'stop', signal: 'SIGINT', timeoutMs: 30_000, leaveMs: 0, to: 'main' } },
          { stopping: { signal: null, begunAt: 0, signalledAt: NOW - 4000, since: NOW - 4000 } },
        ),
        desired: desired({ goal: 'stop' }),
      },
      {
        stop: {
          signal: 'the stop command',
          sentAgoMs: 4000,
          next: { signal: 'SIGINT', inMs: 11_000 },
          killInMs: 26_000,
        },
      },
    ],
    [
      'what it waits for before it is ready',
      {
        handle: running(),
        desired: desired({}, false, { readiness: { tcpPort: 25565 } }),
        check: checkFor({ tcpPort: 25565 }),
      },
      {
        readiness: {
          reason: 'starting',
          message: 'waiting for TCP port 25565 to accept connections, up to 60 s',
        },
      },
    ],
    [
      'one that its restart policy does not start again',
      {
        handle: handle({
          run: 1,
          exit: { code: 3, signal: null, at: 0 },
          end: 'unasked',
          phase: late(9),
        }),
        desired: desired({}, false, { restartPolicy: 'never' }),
      },
      { isFinished: true, retryInMs: null },
    ],
    ['remains', { handle: handle({ run: 1, phase: remaining() }) }, { pid: null, hasRemains: true }],
    ['a restart', { handle: running(), desired: desired({ restartToken: 1 }) }, { goal: 'restart' }],
    ['a missing runtime', { runtimeProblem: 'no tmux' }, { runtimeProblem: 'no tmux' }],
    [
      'a busy port',
      { handle: handle({ phase: late(4000, problem) }) },
      { problem: { reason: 'port-busy', message: 'held' }, retryInMs: 4000 },
    ],
    [
      'a busy port that it no longer has',
      { handle: handle({ phase: late(4000, problem) }), desired: desired({ port: 30001 }) },
      { retryInMs: null },
    ],
  ])('tells of %s', (_what, fields, expected) => {
    expect(describeRun(supervisorFacts(fields), NOW)).toMatchObject(expected);
  });

  it('puts the next try off for exactly as long as the plan waits', () => {
    const facts = supervisorFacts({
      handle: handle({ streak: 4, phase: { ...late(3700), directory: 'prepared' } }),
    });
    expect(describeRun(facts, NOW)?.retryInMs).toBe(plan(facts, NOW).recheckInMs);
    expect(plan(facts, NOW + 3700).steps).toContainEqual({ do: 'start' });
    expect(describeRun(facts, NOW + 3700)?.retryInMs).toBeNull();
  });
});

describe('the ends that a node remembers', () => {
  it('are the last five, newest first, with where their output stands', () => {
    let one = running();
    for (let run = 1; run <= 7; run++) {
      const exit = { code: run, signal: null, at: run * 1000, ...(run > 1 && { output: SPAN }) };
      one = afterExit({ ...one, run }, exit, NOW, 0);
    }
    expect(one.exits.map(({ run, code, at, output }) => [run, code, at, output])).toEqual(
      [7, 6, 5, 4, 3].map((run) => [run, run, run * 1000, SPAN]),
    );
    expect(one.exit).toEqual({ code: 7, signal: null, at: 7000 });
  });

  it('tell a stop that was asked for from a crash, and one that nobody saw', () => {
    const stopping = { signal: 'SIGTERM', begunAt: 0, signalledAt: NOW, since: NOW } as const;
    const exit = { code: null, signal: 'SIGTERM', at: 5 };
    expect(afterExit(running({}, { stopping }), exit, NOW, 0).exits).toEqual([
      { run: 1, ...exit, wasAsked: true, output: null },
    ]);
    expect(afterExit(running(), exit, NOW, 0).exits[0]?.wasAsked).toBe(false);
  });

  it('are on disk', async () => {
    const store = new MemoryStore();
    const disk = new WriteBehind({ store, clock: new FakeClock(), logger: pino({ level: 'silent' }) });
    const exits = [{ run: 1, at: 5, code: 1, signal: null, wasAsked: false, output: SPAN }];
    new HandleBook(disk).put(handle({ exits }));
    await disk.stop();
    const next = new HandleBook(disk);
    await next.load(new FakeClock());
    expect(next.get(ID)?.exits).toEqual(exits);
    await store.close();
  });

  it('come with their last lines, or with why there are none', async () => {
    const past = { run: 3, at: 4000, code: 1, signal: null, wasAsked: false };
    const told = await describePastRuns(
      [
        { ...past, output: SPAN },
        { ...past, output: { ...SPAN, to: { segment: 2, offset: 0 } } },
        { ...past, output: { ...SPAN, to: { segment: 3, offset: 0 } } },
        { ...past, at: 99_000, output: null },
      ],
      10_000,
      async ({ to }) => {
        if (to.segment === 3) throw new Error('EIO');
        return to.segment === 2 ? { lines: [], isKept: false } : { lines: ['boom'], isKept: true };
      },
    );
    expect(told).toEqual([
      { ...past, agoMs: 6000, lastLines: ['boom'], output: 'known' },
      { ...past, agoMs: 6000, lastLines: [], output: 'gone' },
      { ...past, agoMs: 6000, lastLines: [], output: 'gone' },
      { ...past, at: 99_000, agoMs: 0, lastLines: [], output: 'unknown' },
    ]);
  });
});

describe('the last lines of a run', () => {
  let directory: string;
  let writer: SegmentWriter;
  const open = (segmentBytes = 1000, segments = 3): void => {
    writer = new SegmentWriter(directory, { segmentBytes, segments });
    writer.open();
  };
  const here = (): LogPlace => {
    const { position } = writer;
    if (position === undefined) throw new Error('the log is not open');
    return position;
  };
  /** What a run writes, and where it stands. */
  const run = (text: string): { from: LogPlace; to: LogPlace } => {
    writer.endLine();
    const from = here();
    writer.write(Buffer.from(text));
    return { from, to: here() };
  };

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'drover-span-'));
  });
  afterEach(() => {
    writer.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it('are those of this run and of no other, an unfinished one included', async () => {
    open();
    const first = run('a1\na2\na3\n');
    const second = run('b1\nb2 unfinished');
    const third = run('');
    run('c1\n');
    expect(await readSpanLines(directory, first, 2)).toEqual({ lines: ['a2', 'a3'], isKept: true });
    expect(await readSpanLines(directory, second, 10)).toEqual({
      lines: ['b1', 'b2 unfinished'],
      isKept: true,
    });
    expect(await readSpanLines(directory, third, 10)).toEqual({ lines: [], isKept: true });
    expect(await readSpanLines(directory, first, 0)).toEqual({ lines: [], isKept: true });
  });

  it('are read over the border of segments, and known to be gone when they were rotated away', async () => {
    open(100, 3);
    const long = run(`${'x'.repeat(90)}\ny1\ny2\n${'z'.repeat(95)}\nend\n`);
    expect(long.to.segment).toBeGreaterThan(long.from.segment);
    expect((await readSpanLines(directory, long, 4)).lines).toEqual(['y1', 'y2', 'z'.repeat(95), 'end']);
    run(`${`${'w'.repeat(80)}\n`.repeat(5)}`);
    expect(await readSpanLines(directory, long, 4)).toEqual({ lines: [], isKept: false });
  });

  it('are bounded, however long a line is', async () => {
    open(1_000_000);
    const span = run(`first\n${'x'.repeat(300_000)}\nlast\n`);
    const { lines } = await readSpanLines(directory, span, 3);
    expect(lines.at(-1)).toBe('last');
    expect(lines.join('').length).toBeLessThanOrEqual(64 * 1024);
  });

  it('are not read through a link, nor from what is no file or not there', async () => {
    open();
    const span = { from: { segment: 1, offset: 0 }, to: { segment: 7, offset: 3 } };
    const secret = join(directory, 'secret');
    writeFileSync(secret, 'secret\n');
    symlinkSync(secret, join(directory, '000000000007.log'));
    expect(await readSpanLines(directory, span, 3)).toEqual({ lines: [], isKept: false });
    expect(await readSpanLines(join(directory, 'absent'), span, 3)).toEqual({ lines: [], isKept: false });
  });
});
