/**
 * The templates of the master: names with a changing content, without files. One of them comes from a storage: the
 * master has a copy of it, which an outage of the storage leaves behind.
 */
import type { TemplateSource } from '../../../src/master-term.js';
import { DroverError } from '../../../src/model/errors.js';
import type { Life } from './life.js';

export const TEMPLATE_GROUP = 'games';
/** The template that a storage has. */
const STORED = 'world';

/** Reading the files of a template takes up to this long. */
const READ_MS = 20;

/** A storage that is slow answers in the end; one that is down is not waited for. */
export type Outage = 'slow' | 'down';

export class SimulatedTemplates {
  /** Version of each template that is there. */
  readonly #versions = new Map<string, number>();
  /** Versions that the master shows: behind the others during an outage. */
  #shown: ReadonlyMap<string, number> = new Map();
  readonly #digests = new Map<string, { readonly name: string; readonly version: number }>();
  readonly #listeners = new Set<(group: string, name: string) => void>();
  readonly #downListeners = new Set<(name: string, copied: number) => void>();
  #outage: Outage | undefined;
  #changes = 0;

  /** A template appears, or gets another content. */
  change(name: string): void {
    this.#versions.set(name, ++this.#changes);
    this.#show(name);
  }

  remove(name: string): void {
    if (this.#versions.delete(name)) this.#show(name);
  }

  /** The storage cannot be asked, or (undefined) it can again. */
  fail(outage: Outage | undefined): void {
    this.#outage = outage;
    this.#show(STORED);
    if (outage === 'down')
      for (const listener of this.#downListeners) listener(STORED, this.#shown.get(STORED) ?? 0);
  }

  /** Calls `listener` when a storage goes down, with its template and the version that is copied: 0 is none. */
  onDown(listener: (name: string, copied: number) => void): void {
    this.#downListeners.add(listener);
  }

  get names(): string[] {
    return [...this.#shown.keys()];
  }

  /** Version of each template of which a start that is asked for now must have at least this one, by name. */
  shown(): ReadonlyMap<string, number> {
    return this.#outage === 'slow' ? this.#versions : this.#shown;
  }

  versionOf(digest: string): { readonly name: string; readonly version: number } | undefined {
    return this.#digests.get(digest);
  }

  digestOf(name: string): string | null {
    const version = this.#shown.get(name);
    if (version === undefined) return null;
    const digest = Buffer.from(`${name}/${version}`).toString('hex').padEnd(64, '0');
    this.#digests.set(digest, { name, version });
    return digest;
  }

  /** The same templates, as one life of the master reads them. */
  source(life: Life): TemplateSource & { close(): void } {
    const mine = new Set<(group: string, name: string) => void>();
    return {
      groups: () => new Map([[TEMPLATE_GROUP, this.names.toSorted()]]),
      storages: () => [],
      digest: (group, name) => (group === TEMPLATE_GROUP ? this.#read(life, name) : Promise.resolve(null)),
      news: (_group, name) =>
        name === STORED && this.#outage === 'slow' ? `${name} is being looked at` : undefined,
      openBundle: (digest) => this.#bundle(digest),
      parts: { manifest: noParts, files: noParts },
      onChange: (listener) => {
        mine.add(listener);
        this.#listeners.add(listener);
        return () => this.#listeners.delete(listener);
      },
      close: () => {
        for (const listener of mine) this.#listeners.delete(listener);
      },
    };
  }

  /** Mostly known; else its files are read. */
  #read(life: Life, name: string): Promise<string | null> {
    if (life.random.chance(0.7)) return Promise.resolve(this.digestOf(name));
    return life.request('reading a template', life.random.between(0, READ_MS), () => this.digestOf(name));
  }

  async *#bundle(digest: string): AsyncGenerator<Buffer> {
    if (!this.names.some((name) => this.digestOf(name) === digest))
      throw new DroverError('DRV_TEMPLATE_UNKNOWN', 'no template has this digest any more');
    yield Buffer.from(digest.slice(0, 20));
    yield Buffer.from(digest.slice(20));
  }

  /** The master sees what it can see, and tells of `name`. */
  #show(name: string): void {
    const shown = new Map(this.#versions);
    const copied = this.#shown.get(STORED);
    if (this.#outage !== undefined) {
      shown.delete(STORED);
      if (copied !== undefined) shown.set(STORED, copied);
    }
    this.#shown = shown;
    for (const listener of this.#listeners) listener(TEMPLATE_GROUP, name);
  }
}

/** The simulated installation asks for whole trees only. */
function noParts(): never {
  throw new Error('there are no files');
}
