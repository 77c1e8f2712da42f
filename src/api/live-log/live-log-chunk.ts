/**
 * Consecutive log lines, or a gap of lines that are no longer kept, with their WebSocket frames. The frames of each
 * form are made once, for all clients.
 */
import type { LogBatch } from '../../logs/log-batch.js';
import { toPlainText } from '../../telemetry/plain-text.js';
import { encodeTextFrames } from '../sockets/text-frames.js';

/** What a line takes beside its characters, an empty one too. */
const LINE_BYTES = 24;

/** The form in which a client wants its lines. */
export interface LineForm {
  /** True: colours and other terminal sequences stay. */
  readonly isAnsi: boolean;
  /** True: a frame is `<number> <line>`. */
  readonly isNumbered: boolean;
}

export class LogChunk {
  readonly first: number;
  /** The number after that of the last line. */
  readonly next: number;
  readonly isGap: boolean;
  /** Roughly the memory that the text takes. */
  readonly bytes: number;
  readonly #batch: LogBatch;
  readonly #frames = new Map<number, Buffer>();

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

  /** Returns the frames from line `from` on, which must lie in the chunk. Those of the whole chunk are kept. */
  framesFrom(from: number, form: LineForm): Buffer {
    if (from > this.first) return this.#encode(from, form);
    const key = (form.isAnsi ? 1 : 0) + (form.isNumbered ? 2 : 0);
    const known = this.#frames.get(key);
    if (known !== undefined) return known;
    const frames = this.#encode(this.first, form);
    this.#frames.set(key, frames);
    return frames;
  }

  #encode(from: number, form: LineForm): Buffer {
    if (this.#batch.kind === 'gap') return encodeTextFrames([gapLine(from, this.#batch.to)]);
    const lines = this.#batch.lines.slice(from - this.first);
    return encodeTextFrames(lines.map((line, index) => shown(line, from + index, form)));
  }
}

function shown(line: string, number: number, { isAnsi, isNumbered }: LineForm): string {
  const text = isAnsi ? line : toPlainText(line);
  return isNumbered ? `${number} ${text}` : text;
}

function gapLine(from: number, to: number): string {
  return from === to
    ? `[drover] line ${from} is no longer kept`
    : `[drover] lines ${from} to ${to} are no longer kept`;
}
