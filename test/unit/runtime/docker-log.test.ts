/**
 * The copy of a container's log has every byte once, whatever breaks in between. The engine here is a list of
 * messages.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ContainerLog, type LogCheckpoint } from '../../../src/runtime/docker/container-log.js';
import type { Inspected } from '../../../src/runtime/docker/engine/engine.js';
import {
  CursorAlignment,
  CursorTracker,
  LogFrames,
  type LogMessage,
  nanosecondsOf,
} from '../../../src/runtime/docker/engine/engine-cursor.js';
import { FakeClock } from '../../support/fake-clock.js';

const START_NS = 1_800_000_000n * 1_000_000_000n;

function instant(offsetNs: number): string {
  const at = START_NS + BigInt(offsetNs);
  const seconds = new Date(Number(at / 1_000_000n)).toISOString().slice(0, 19);
  return `${seconds}.${String(at % 1_000_000_000n).padStart(9, '0')}Z`;
}

function message(text: string, offsetNs: number, stream = 1): LogMessage {
  return { stream, at: instant(offsetNs), payload: Buffer.from(text) };
}

function frame({ stream, at, payload }: LogMessage): Buffer {
  const body = Buffer.concat([Buffer.from(`${at} `), payload]);
  const head = Buffer.alloc(8);
  head[0] = stream;
  head.writeUInt32BE(body.length, 4);
  return Buffer.concat([head, body]);
}

/** Gives its messages in pieces of `pieceBytes`, and can break off. The container has ended. */
class FakeEngine {
  isPodman = false;
  messages: readonly LogMessage[] = [];
  pieceBytes = 50;
  /** After so many pieces `onBreak` is called and the connection is gone. */
  breakAfter: number | undefined;
  onBreak: () => void = () => undefined;
  /** What each connection asked for. */
  readonly asked: (string | undefined)[] = [];

  async logs(_id: string, since: string | undefined): Promise<Readable> {
    this.asked.push(since);
    const from = BigInt((since ?? '0.0').replace('.', ''));
    const shown = this.messages.filter(({ at }) => since === undefined || nanosecondsOf(at) >= from);
    return Readable.from(this.#pieces(Buffer.concat(shown.map(frame))));
  }

  /** Every other message only, as Podman does when much is written at once. */
  async lossyLogs(since: string | undefined): Promise<Readable> {
    const whole = this.messages;
    this.messages = whole.filter((_message, n) => n % 2 === 0);
    const stream = await this.logs('', since);
    this.messages = whole;
    return stream;
  }

  async inspect(): Promise<Inspected> {
    return {
      isRunning: false,
      pid: 0,
      isBeingRemoved: false,
      exitCode: 0,
      isOutOfMemory: false,
      finishedAt: '',
    };
  }

  *#pieces(bytes: Buffer): Generator<Buffer> {
    for (let at = 0, piece = 0; at < bytes.length; at += this.pieceBytes, piece++) {
      if (piece === this.breakAfter) {
        this.onBreak();
        throw new Error('socket hang up');
      }
      yield bytes.subarray(at, at + this.pieceBytes);
    }
  }
}

describe('the copy of a log', () => {
  let root: string;
  let engine: FakeEngine;
  let checkpoint: LogCheckpoint | null;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'drover-docker-log-'));
    engine = new FakeEngine();
    checkpoint = null;
  });
  afterEach(() => rmSync(root, { recursive: true }));

  const open = (segmentBytes = 1024 * 1024, segments = 64): ContainerLog =>
    new ContainerLog({
      engine: {
        logs: (id, since) => (engine.isPodman ? engine.lossyLogs(since) : engine.logs(id, since)),
        logsSoFar: (id, since) => engine.logs(id, since),
        inspect: () => engine.inspect(),
        version: async () => ({ text: '1', isPodman: engine.isPodman }),
      },
      containerId: 'c',
      directory: root,
      limits: { segmentBytes, segments },
      onOutput: () => undefined,
      onCheckpoint: (one) => {
        checkpoint = one;
      },
      clock: new FakeClock(),
      random: () => 0,
      logger: pino({ enabled: false }),
    });
  const written = (): string =>
    readdirSync(root)
      .filter((name) => name.endsWith('.log'))
      .sort()
      .map((name) => readFileSync(join(root, name), 'utf8'))
      .join('');
  const live = (): AbortSignal => new AbortController().signal;
  const textOf = (messages: readonly LogMessage[]): string =>
    messages.map(({ payload }) => payload.toString()).join('');

  it('is both streams in order, and ends with a whole line', async () => {
    engine.messages = [message('out 1\n', 1), message('err 1\n', 2, 2), message('no newline', 3)];
    const log = open();
    log.begin();
    await log.follow(live());
    expect(log.end()).toEqual({ from: { segment: 1, offset: 0 }, to: { segment: 1, offset: 22 } });
    expect(written()).toBe('out 1\nerr 1\nno newline\n');
  });

  it('has every line of an engine that leaves lines out while it is followed, and gives seconds only', async () => {
    engine.isPodman = true;
    engine.messages = Array.from({ length: 40 }, (_, n) =>
      message(`line ${n}\n`, n < 25 ? 0 : 1_000_000_000),
    );
    const log = open();
    log.begin();
    await log.follow(live());
    expect(written()).toBe(textOf(engine.messages));
  });

  it('goes on with the very next byte under the next daemon, without a word of the one before', async () => {
    engine.messages = Array.from({ length: 20 }, (_, n) => message(`line ${n}\n`, n * 1000));
    const first = open();
    first.begin();
    engine.messages = engine.messages.slice(0, 12);
    await first.follow(live());
    // Killed: neither `end` nor `release`.
    engine.messages = Array.from({ length: 20 }, (_, n) => message(`line ${n}\n`, n * 1000));
    const next = open();
    next.resume({ from: null, checkpoint });
    await next.follow(live());
    expect(written()).toBe(textOf(engine.messages));
  });

  it('finds its place among the pieces of one long line, whose instants are all the same', async () => {
    const piece = 'x'.repeat(40);
    const all = [
      message('a\n', 1),
      ...Array.from({ length: 9 }, () => message(piece, 5)),
      message('end\n', 5),
    ];
    const other = [message('other\n', 9_000_000_000, 2)];
    engine.messages = [...all.slice(0, 6), ...other];
    const first = open();
    first.begin();
    await first.follow(live());
    first.release();
    engine.messages = [...all.slice(0, 6), ...other, ...all.slice(6)];
    const next = open();
    next.resume({ from: null, checkpoint });
    await next.follow(live());
    expect(written()).toBe(textOf(engine.messages));
    // Early enough for the line that was open, although later ones were there.
    expect(Number(engine.asked.at(-1))).toBeLessThan(Number(START_NS / 1_000_000_000n));
  });

  it('says where output is missing because the engine kept no more of it', async () => {
    engine.messages = [message('one\n', 1), message('two\n', 2)];
    const first = open();
    first.begin();
    await first.follow(live());
    first.release();
    engine.messages = [message('seven\n', 7), message('eight\n', 8)];
    const next = open();
    next.resume({ from: null, checkpoint });
    await next.follow(live());
    expect(written()).toBe(
      'one\ntwo\n[drover] output is lost here: the container engine kept no more of it\nseven\neight\n',
    );
  });

  it('has every byte once, whatever breaks, rotates and is killed in between', async () => {
    const lines = fc.array(
      fc.record({
        text: fc.string({ unit: 'grapheme-ascii', maxLength: 30 }),
        isWhole: fc.boolean(),
        stream: fc.constantFrom(1, 2),
        gapNs: fc.constantFrom(1, 1000, 3_000_000_000),
      }),
      { maxLength: 40 },
    );
    /** When each daemon begins, how far it comes, and whether it can say goodbye. */
    const daemons = fc.array(
      fc.record({ share: fc.integer({ min: 0, max: 100 }), breakAfter: fc.nat(8), isReleased: fc.boolean() }),
      { minLength: 1, maxLength: 4 },
    );
    const holds = fc.asyncProperty(
      lines,
      daemons,
      fc.integer({ min: 5, max: 300 }),
      async (some, others, pieceBytes) => {
        for (const name of readdirSync(root)) rmSync(join(root, name));
        const all = toMessages(some);
        open(200).begin();
        for (const { share, breakAfter, isReleased } of others.toSorted((a, b) => a.share - b.share)) {
          const killed = new AbortController();
          const messages = all.slice(0, Math.ceil((share * all.length) / 100));
          engine = Object.assign(new FakeEngine(), {
            messages,
            pieceBytes,
            breakAfter,
            onBreak: () => killed.abort(),
          });
          const log = open(200);
          log.resume({ from: null, checkpoint });
          await log.follow(killed.signal);
          if (isReleased) log.release();
        }
        engine = Object.assign(new FakeEngine(), { messages: all, pieceBytes });
        const last = open(200);
        last.resume({ from: null, checkpoint });
        await last.follow(live());
        expect(written()).toBe(textOf(all));
      },
    );
    await fc.assert(holds, { numRuns: 100 });
  });
});

/** As an engine writes them: pieces of one line of one stream share their instant. */
function toMessages(
  lines: readonly { text: string; isWhole: boolean; stream: number; gapNs: number }[],
): LogMessage[] {
  const open = new Map<number, number>();
  let now = 10_000_000_000;
  return lines.map(({ text, isWhole, stream, gapNs }) => {
    now += gapNs;
    const at = open.get(stream) ?? now;
    if (isWhole) open.delete(stream);
    else open.set(stream, at);
    const shown = text.replaceAll('\n', '');
    return message(isWhole ? `${shown}\n` : `${shown}_`, at, stream);
  });
}

describe('frames of a log', () => {
  it('are joined wherever they were cut', () => {
    const messages = [message('first\n', 1), message('', 2), message('third\n', 3, 2)];
    const bytes = Buffer.concat(messages.map(frame));
    for (let size = 1; size < 60; size++) {
      const frames = new LogFrames();
      const seen: LogMessage[] = [];
      for (let at = 0; at < bytes.length; at += size)
        seen.push(...frames.push(bytes.subarray(at, at + size)));
      expect(seen.map(({ stream, at, payload }) => [stream, at, payload.toString()])).toEqual(
        messages.map(({ stream, at, payload }) => [stream, at, payload.toString()]),
      );
    }
  });

  it.each([
    ['text of a terminal', Buffer.from('hello world, this is no frame')],
    ['a length that cannot be', Buffer.from([1, 0, 0, 0, 255, 255, 255, 255])],
    ["an engine's own error", frame({ ...message('cannot read', 1), stream: 3 })],
    ['a message without an instant', Buffer.from([1, 0, 0, 0, 0, 0, 0, 3, 97, 98, 99])],
  ])('are not believed to be %s', (_what, bytes) => {
    expect(() => [...new LogFrames().push(bytes)]).toThrow();
  });
});

describe('a place in the log of an engine', () => {
  it('is kept to the nanosecond, in every notation of time', () => {
    expect(nanosecondsOf('2027-01-15T08:00:00.000000001Z')).toBe(START_NS + 1n);
    expect(nanosecondsOf('2027-01-15T09:00:00.5+01:00')).toBe(START_NS + 500_000_000n);
    expect(nanosecondsOf('2027-01-15T08:00:00Z')).toBe(START_NS);
    expect(nanosecondsOf('nonsense')).toBe(0n);
  });

  it('is found again although a message of the other stream stands out of order', () => {
    const tracker = new CursorTracker();
    const before = [message('a\n', 5_000), message('late\n', 4_000, 2), message('b\n', 6_000)];
    for (const one of before) tracker.note(one);
    const alignment = new CursorAlignment(tracker.cursor());
    const after = [message('late too\n', 5_500, 2), message('c\n', 7_000)];
    expect([...before, ...after].map((one) => alignment.isOld(one))).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
    expect(alignment.isGap).toBe(false);
  });
});
