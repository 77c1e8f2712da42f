/**
 * An attacker in a thread: it puts a symbolic link in a directory's place and the directory back, as fast as it can,
 * until it is stopped.
 */
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { Worker } from 'node:worker_threads';

/** Plain JavaScript, because a thread does not go through the test runner's loader. */
const PROGRAM = `
const { renameSync, symlinkSync } = require('node:fs');
const { workerData } = require('node:worker_threads');
const { flag, directory, target, workshop } = workerData;
const [aside, link] = [workshop + '/aside', workshop + '/link'];
symlinkSync(target, link);
const attempt = (from, to) => { try { renameSync(from, to); return true; } catch { return false; } };
let made = 0;
while (Atomics.load(flag, 0) === 0) {
  if (!attempt(directory, aside)) continue;
  if (attempt(link, directory)) {
    Atomics.add(flag, 1, 1);
    attempt(directory, link);
  }
  // Somebody may have made a directory in between: it goes out of the way.
  while (!attempt(aside, directory)) attempt(directory, workshop + '/made' + made++);
}
`;

export class LinkSwapper {
  readonly #flag = new Int32Array(new SharedArrayBuffer(8));
  readonly #worker: Worker;
  readonly #ended: Promise<unknown>;

  /** Swaps `directory` for a link to `target`. `workshop`: a private directory on the same disk. */
  constructor(directory: string, target: string, workshop: string) {
    mkdirSync(workshop);
    this.#worker = new Worker(PROGRAM, {
      eval: true,
      workerData: { flag: this.#flag, directory, target, workshop },
    });
    this.#ended = once(this.#worker, 'exit');
  }

  /** How often the link was in place. */
  get swaps(): number {
    return Atomics.load(this.#flag, 1);
  }

  /** Stops the attacks. Afterwards the directory is in its place. */
  async stop(): Promise<void> {
    Atomics.store(this.#flag, 0, 1);
    await this.#ended;
  }
}
