/** A log directory as an owner writes it, and readers that follow it. */
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LogBatch } from '../../../src/logs/log-batch.js';
import { segmentAt } from '../../../src/logs/segments.js';
import { until } from '../until.js';

export class LogFiles {
  readonly #parent = fs.mkdtempSync(join(tmpdir(), 'drover-log-'));
  /** The directory of the log. It does not exist until something is written. */
  readonly directory = join(this.#parent, 'abc123');

  write(firstLine: number, content: string | Buffer): void {
    fs.mkdirSync(this.directory, { recursive: true });
    fs.appendFileSync(segmentAt(this.directory, firstLine).path, content);
  }

  pathOf(firstLine: number): string {
    return segmentAt(this.directory, firstLine).path;
  }

  remove(): void {
    fs.rmSync(this.#parent, { recursive: true });
  }
}

/** Reads a followed log without pause and remembers it as text: `<number> <line>`, or `gap <from>-<to>`. */
export class LogReader {
  readonly seen: string[] = [];
  readonly batches: LogBatch[] = [];
  readonly #stop = new AbortController();
  readonly #done: Promise<void>;

  constructor(follow: (signal: AbortSignal) => AsyncIterable<LogBatch>) {
    this.#done = this.#read(follow(this.#stop.signal));
  }

  async until(last: string): Promise<readonly string[]> {
    await until(() => {
      if (this.seen.at(-1) !== last) throw new Error(`last seen: ${this.seen.at(-1)}`);
    });
    return this.seen;
  }

  /** Resolves when the stream has ended. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#done;
  }

  async #read(batches: AsyncIterable<LogBatch>): Promise<void> {
    for await (const batch of batches) {
      this.batches.push(batch);
      this.seen.push(...textOf(batch));
    }
  }
}

export function textOf(batch: LogBatch): string[] {
  if (batch.kind === 'gap') return [`gap ${batch.from}-${batch.to}`];
  return batch.lines.map((line, index) => `${batch.firstLine + index} ${line}`);
}
