/**
 * Keeps every write that a client's request was acknowledged for, to compare them with what can be read. A write that
 * got no answer may have happened or not, so it promises nothing.
 */
import { expect } from 'vitest';
import type { ApiClient } from '../api/api-client.js';

type Content = Readonly<Record<string, unknown>>;

export class AcknowledgedWrites {
  /** Instances by id: there, or gone. */
  readonly #instances = new Map<string, 'there' | 'gone'>();
  /** The configurations by name; undefined: removed. */
  readonly #configurations = new Map<string, Content | undefined>();

  get size(): number {
    return this.#instances.size + this.#configurations.size;
  }

  created(id: string): void {
    this.#instances.set(id, 'there');
  }

  async removing(id: string, write: () => Promise<unknown>): Promise<void> {
    this.#instances.delete(id);
    await write();
    this.#instances.set(id, 'gone');
  }

  async configuring(name: string, content: Content | undefined, write: () => Promise<void>): Promise<void> {
    this.#configurations.delete(name);
    await write();
    this.#configurations.set(name, content);
  }

  /**
   * Stops expecting anything of this configuration, because another writer (a file edit) decides about it from now on.
   */
  forget(name: string): void {
    this.#configurations.delete(name);
  }

  clear(): void {
    this.#instances.clear();
    this.#configurations.clear();
  }

  /** Fails on the first promise that does not hold. */
  async check(api: ApiClient): Promise<void> {
    for (const [id, expected] of this.#instances) {
      const { status } = await api.send('GET', `/instances/${id}`);
      expect(status, `instance ${id}, acknowledged as ${expected}`).toBe(expected === 'there' ? 200 : 404);
    }
    for (const [name, content] of this.#configurations) {
      const { status, text } = await api.send('GET', `/configurations/${name}`);
      expect(status, `configuration ${name}`).toBe(content === undefined ? 404 : 200);
      if (content !== undefined) expect(JSON.parse(text)).toMatchObject(content);
    }
  }
}
