/** Templates of a master without files, and installations of nodes that fetch them over the real channel. */
import type { CallPeer } from '../../../src/channel/protocol/calls.js';
import { requestBundle } from '../../../src/channel/services/template-relay.js';
import type { TemplateSource } from '../../../src/master-term.js';
import { DroverError, messageOf } from '../../../src/model/errors.js';
import type { Desired } from '../../../src/node/desired-copy.js';
import type { Installation } from '../../../src/runtime/installation/local-installation.js';

/** The digest of a content: a short word. */
function digestOf(content: string): string {
  return Buffer.from(content).toString('hex').padEnd(64, '0');
}

function contentOf(digest: string): string {
  return Buffer.from(digest, 'hex').toString().replaceAll('\0', '');
}

/** Templates of one group, `games`. */
export class FakeTemplates implements TemplateSource {
  /** The content of each template, by name. */
  readonly contents = new Map<string, string>();
  /** The reason why a storage's template is being looked at again, by name. */
  readonly #looks = new Map<string, string>();
  /** Awaited before a tree is sent. */
  hold: (content: string) => Promise<unknown> = async () => {};
  readonly #listeners = new Set<(group: string, name: string) => void>();

  readonly parts = { manifest: noParts, files: noParts };

  put(name: string, content: string): void {
    this.contents.set(name, content);
    this.tell(name);
  }

  remove(name: string): void {
    this.contents.delete(name);
    this.tell(name);
  }

  /** Begins a look at the storage for this template, with the reason; undefined: the storage has answered. */
  look(name: string, why: string | undefined): void {
    if (why === undefined) this.#looks.delete(name);
    else this.#looks.set(name, why);
    this.tell(name);
  }

  tell(name: string): void {
    for (const listener of this.#listeners) listener('games', name);
  }

  groups(): ReadonlyMap<string, readonly string[]> {
    return new Map([['games', [...this.contents.keys()]]]);
  }

  storages(): readonly string[] {
    return [];
  }

  async digest(_group: string, name: string): Promise<string | null> {
    const content = this.contents.get(name);
    return content === undefined ? null : digestOf(content);
  }

  news(_group: string, name: string): string | undefined {
    return this.#looks.get(name);
  }

  async *openBundle(digest: string): AsyncGenerator<Buffer> {
    await this.hold(contentOf(digest));
    if (![...this.contents.values()].some((content) => digestOf(content) === digest))
      throw new DroverError('DRV_TEMPLATE_UNKNOWN', 'no template has this digest any more');
    yield Buffer.from(digest);
  }

  onChange(listener: (group: string, name: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** The caches and directories of one node. */
export class FakeCache {
  readonly digests = new Set<string>();
  /** The contents that each install was made from, in order. */
  readonly installs: string[] = [];
  /** The ended fetches in order, as `<content> <what became of it>`. */
  readonly fetches: string[] = [];

  get contents(): string[] {
    return [...this.digests].map(contentOf);
  }

  adapt(installation: Installation): Installation {
    return {
      ...installation,
      isCached: (digest) => this.digests.has(digest),
      fetch: (digest, calls, signal) => this.#fetch(digest, calls, signal),
      install: async ({ assignment }: Desired) => {
        this.installs.push(assignment.templates.map(({ digest }) => contentOf(digest ?? '')).join(' '));
        return [];
      },
    };
  }

  async #fetch(digest: string, calls: CallPeer | undefined, signal: AbortSignal): Promise<undefined> {
    try {
      for await (const bytes of requestBundle(calls, digest, signal))
        if (bytes.toString() === digest) this.digests.add(digest);
      this.fetches.push(`${contentOf(digest)} came`);
    } catch (error) {
      this.fetches.push(`${contentOf(digest)} failed: ${messageOf(error)}`);
      throw error;
    }
  }
}

function noParts(): never {
  throw new Error('there are no files');
}
