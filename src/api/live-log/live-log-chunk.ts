/**
 * Consecutive log lines, or a gap of lines that are no longer kept, with their WebSocket frames. The frames of each
 * form are made once, for all clients.
 */
import { type LineTimes, timestampsOf } from '../../logs/line-times.js';
import type { LogBatch } from '../../logs/log-batch.js';
import { toPlainText } from '../../telemetry/plain-text.js';
import { MessagePacket } from '../sockets/message-packet.js';
import { encodeTextFrames } from '../sockets/text-frames.js';

/** The memory that a line takes beside its characters, even when it is empty. */
const LINE_BYTES = 24;

/** The form in which a client wants its lines. */
export interface LineForm {
  /** True: colours and other terminal sequences stay. */
  readonly isAnsi: boolean;
  /** True: a frame is `<number> <line>`. */
  readonly isNumbered: boolean;
  /** True: the line begins with the time when it was written, or with `-` when the time is not known. */
  readonly isTimed: boolean;
}

/** The form in which a client of the change stream wants its lines. */
export interface LogMessageForm extends Pick<LineForm, 'isAnsi' | 'isTimed'> {
  /** The topic, equal for all clients of the log. */
  readonly topic: string;
}

/** The time in the frame of a line whose time is not known. */
const NO_TIME = '-';

export class LogChunk {
  readonly first: number;
  /** The number of the line after the last. */
  readonly next: number;
  readonly isGap: boolean;
  /** The approximate memory of the text. */
  readonly bytes: number;
  readonly #batch: LogBatch;
  readonly #frames = new Map<number, Buffer>();
  readonly #packets = new Map<number, MessagePacket>();
  #asked: Promise<LineTimes> | undefined;
  #times: LineTimes | undefined;

  constructor(batch: LogBatch) {
    this.#batch = batch;
    this.isGap = batch.kind === 'gap';
    if (batch.kind === 'gap') {
      this.first = batch.from;
      this.next = batch.to + 1;
      this.bytes = 0;
    } else {
      this.first = batch.firstLine;
      this.next = batch.firstLine + batch.lines.length;
      this.bytes = batch.lines.reduce((sum, line) => sum + LINE_BYTES + line.length, 0);
    }
  }

  /**
   * Asks for the times of the lines, once for all clients. Never rejects: if no answer comes, the times stay unknown.
   */
  async learnTimes(ask: (from: number, to: number) => Promise<LineTimes>): Promise<void> {
    if (this.isGap || this.#times !== undefined) return;
    this.#asked ??= ask(this.first, this.next - 1);
    try {
      this.#times = await this.#asked;
    } catch {
      this.#asked = undefined;
    }
  }

  /**
   * The frames of the lines from `from` on, before `to`; both must lie in the chunk. The frames of the whole chunk are
   * kept. Before `learnTimes`, frames have no times.
   */
  frames(from: number, to: number, form: LineForm): Buffer {
    const key = (form.isAnsi ? 1 : 0) + (form.isNumbered ? 2 : 0) + (form.isTimed ? 4 : 0);
    const known = this.#isWhole(from, to, form) ? this.#frames : undefined;
    return keptIn(known, key, () => this.#encode(from, to, form));
  }

  /**
   * The lines as a message of the change stream, from `from` on, before `to`. A gap is an empty message with its
   * numbers.
   */
  packet(from: number, to: number, form: LogMessageForm): MessagePacket {
    const key = (form.isAnsi ? 1 : 0) + (form.isTimed ? 2 : 0);
    const known = this.#isWhole(from, to, form) ? this.#packets : undefined;
    return keptIn(known, key, () => new MessagePacket([this.#message(from, to, form)]));
  }

  #isWhole(from: number, to: number, { isTimed }: Pick<LineForm, 'isTimed'>): boolean {
    return from === this.first && to === this.next && (!isTimed || this.#times !== undefined);
  }

  #message(from: number, to: number, { topic, isAnsi, isTimed }: LogMessageForm): string {
    if (this.#batch.kind === 'gap') return JSON.stringify({ type: 'gap', topic, first: from, last: to - 1 });
    const written = this.#batch.lines.slice(from - this.first, to - this.first);
    const lines = isAnsi ? written : written.map(toPlainText);
    const times = isTimed ? { times: timestampsOf(this.#times ?? [], from, lines.length) } : {};
    return JSON.stringify({ type: 'lines', topic, first: from, lines, ...times });
  }

  #encode(from: number, to: number, { isAnsi, isNumbered, isTimed }: LineForm): Buffer {
    if (this.#batch.kind === 'gap') return encodeTextFrames([gapLine(from, to - 1)]);
    const lines = this.#batch.lines.slice(from - this.first, to - this.first);
    const stamps = isTimed ? timestampsOf(this.#times ?? [], from, lines.length) : [];
    return encodeTextFrames(
      lines.map((line, index) => {
        const text = isAnsi ? line : toPlainText(line);
        const timed = isTimed ? `${stamps[index] ?? NO_TIME} ${text}` : text;
        return isNumbered ? `${from + index} ${timed}` : timed;
      }),
    );
  }
}

/**
 * The entry of the key. The first call makes the entry with `make`. `entries` undefined: the entry is made and not
 * kept.
 */
function keptIn<T>(entries: Map<number, T> | undefined, key: number, make: () => T): T {
  const made = entries?.get(key) ?? make();
  entries?.set(key, made);
  return made;
}

function gapLine(from: number, to: number): string {
  return from === to
    ? `[drover] line ${from} is no longer kept`
    : `[drover] lines ${from} to ${to} are no longer kept`;
}
