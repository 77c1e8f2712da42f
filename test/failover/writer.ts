/**
 * A client of one master that writes all the time: it makes keys of the API, and takes the oldest away again. It holds
 * the master to each answer: what was acknowledged is there, or gone, for ever after.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import type { ApiClient } from '../support/api/api-client.js';

const PAUSE_MS = 20;
/** After a refusal, and where nobody answers. */
const REFUSED_PAUSE_MS = 50;
const MOST_KEPT = 100;
const CLEARED_AT_ONCE = 16;
const CREATED = 201;
const REMOVED = 200;
const ABSENT = 404;
const labelsSchema = z.array(z.object({ label: z.string() }));

export class Writer {
  readonly faults: string[] = [];
  readonly #name: string;
  readonly #api: ApiClient;
  /** Acknowledged, and not taken away. */
  readonly #there: string[] = [];
  readonly #gone = new Set<string>();
  /** Without an answer, or refused: they may be there. */
  readonly #unknown = new Set<string>();
  /** When each acknowledged write was answered. */
  readonly #answeredAt: number[] = [];
  #count = 0;
  #isOver = false;
  #running: Promise<void> | undefined;

  /** `name`: what its keys begin with. */
  constructor(name: string, api: ApiClient) {
    this.#name = name;
    this.#api = api;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Resolves when nothing is under way any more. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  get acknowledged(): number {
    return this.#answeredAt.length;
  }

  get lastAt(): number {
    return this.#answeredAt.at(-1) ?? -Infinity;
  }

  /** The longest time between two acknowledged writes of which the later one was answered after `from`. */
  longestGap(from: number, to: number): number {
    let longest = 0;
    let before = from;
    for (const at of this.#answeredAt) {
      if (at > to) break;
      if (at < from) continue;
      longest = Math.max(longest, at - before);
      before = at;
    }
    return Math.max(longest, to - before - PAUSE_MS);
  }

  /** Reads through a master, and notes what is not as it was acknowledged. */
  async check(reader: ApiClient, through: string): Promise<void> {
    // What is acknowledged or under way from now on says nothing about this read.
    const there = [...this.#there];
    const gone = new Set(this.#gone);
    const labels = await labelsAt(reader);
    const later = new Set([...this.#gone, ...this.#unknown]);
    for (const label of there)
      if (!labels.has(label) && !later.has(label))
        this.faults.push(`${label} is lost, read through ${through}`);
    for (const label of gone)
      if (labels.has(label)) this.faults.push(`${label} is back, read through ${through}`);
  }

  /** Takes everything of it away. */
  async clear(api: ApiClient): Promise<void> {
    const own = [...(await labelsAt(api))].filter((label) => label.startsWith(`${this.#name}-`));
    for (let at = 0; at < own.length; at += CLEARED_AT_ONCE)
      await Promise.all(
        own.slice(at, at + CLEARED_AT_ONCE).map((label) => api.send('DELETE', `/keys/${label}`)),
      );
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      const oldest = this.#there.length > MOST_KEPT ? this.#there.shift() : undefined;
      const isDone = oldest === undefined ? await this.#create() : await this.#remove(oldest);
      if (isDone) this.#answeredAt.push(performance.now());
      await pause(isDone ? PAUSE_MS : REFUSED_PAUSE_MS);
    }
  }

  async #create(): Promise<boolean> {
    const label = `${this.#name}-${this.#count++}`;
    const status = await this.#send('POST', '/keys', { label, scope: 'READ' });
    if (status === CREATED) this.#there.push(label);
    else this.#unknown.add(label);
    return status === CREATED;
  }

  async #remove(label: string): Promise<boolean> {
    this.#unknown.add(label);
    const status = await this.#send('DELETE', `/keys/${label}`);
    if (status === ABSENT) this.faults.push(`${label} was lost before it was taken away`);
    if (status !== REMOVED) return false;
    this.#unknown.delete(label);
    this.#gone.add(label);
    return true;
  }

  /** Undefined: no answer. */
  async #send(method: string, path: string, body?: unknown): Promise<number | undefined> {
    return (await this.#api.send(method, path, body).catch(() => undefined))?.status;
  }
}

async function labelsAt(api: ApiClient): Promise<Set<string>> {
  const { text } = await api.send('GET', '/keys');
  return new Set(labelsSchema.parse(JSON.parse(text)).map(({ label }) => label));
}
