/** The templates directory of the master's machine: names with a changing content, without files. */
import type { TemplateSource } from '../../../src/master.js';
import { DroverError } from '../../../src/model/errors.js';

export const TEMPLATE_GROUP = 'games';

export class SimulatedTemplates {
  /** Version of each template. */
  readonly #versions = new Map<string, number>();
  readonly #listeners = new Set<(group: string, name: string) => void>();

  /** A template appears, or gets another content. */
  change(name: string): void {
    this.#versions.set(name, (this.#versions.get(name) ?? 0) + 1);
    this.#tell(name);
  }

  remove(name: string): void {
    if (this.#versions.delete(name)) this.#tell(name);
  }

  get names(): string[] {
    return [...this.#versions.keys()];
  }

  digestOf(name: string): string | null {
    const version = this.#versions.get(name);
    return version === undefined ? null : Buffer.from(`${name}/${version}`).toString('hex').padEnd(64, '0');
  }

  /** The same directory, as one life of the master reads it. */
  source(): TemplateSource & { close(): void } {
    const mine = new Set<(group: string, name: string) => void>();
    return {
      groups: () => new Map([[TEMPLATE_GROUP, this.names.toSorted()]]),
      storages: () => [],
      digest: async (group, name) => (group === TEMPLATE_GROUP ? this.digestOf(name) : null),
      news: () => undefined,
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

  async *#bundle(digest: string): AsyncGenerator<Buffer> {
    if (!this.names.some((name) => this.digestOf(name) === digest))
      throw new DroverError('DRV_TEMPLATE_UNKNOWN', 'no template has this digest any more');
    yield Buffer.from(digest.slice(0, 20));
    yield Buffer.from(digest.slice(20));
  }

  #tell(name: string): void {
    for (const listener of this.#listeners) listener(TEMPLATE_GROUP, name);
  }
}

/** The simulated installation asks for whole trees only. */
function noParts(): never {
  throw new Error('there are no files');
}
