/**
 * A client that writes all the time to any master that takes a write. It keeps the acknowledged writes, each of which
 * must be readable for ever after.
 */
import { expect } from 'vitest';
import type { ApiClient } from '../api/api-client.js';
import { until } from '../until.js';

const CREATED = 201;

export class AcknowledgedKeys {
  readonly #name: string;
  readonly #apis: () => readonly ApiClient[];
  readonly #acknowledged: string[] = [];
  #count = 0;
  #lastAt = 0;

  /** `name`: the beginning of its keys. `apis`: the masters to ask now. */
  constructor(name: string, apis: () => readonly ApiClient[]) {
    this.#name = name;
    this.#apis = apis;
  }

  /** Writes once, asking each master in turn until one takes the write. Resolves with the time of the answer. */
  async write(): Promise<number> {
    for (;;) {
      for (const api of this.#apis()) if (await this.#attempt(api)) return this.#lastAt;
    }
  }

  /** Throws unless every acknowledged write can be read. */
  async check(api: ApiClient): Promise<void> {
    // On a busy machine there may be no leader for a moment.
    const text = await until(async () => {
      const answer = await api.send('GET', '/keys');
      expect(answer.status).toBe(200);
      return answer.text;
    });
    const labels: string[] = JSON.parse(text).map(({ label }: { readonly label: string }) => label);
    expect(labels).toEqual(expect.arrayContaining(this.#acknowledged));
  }

  /** Makes one try with a label of its own. A write that is refused or not answered may still have been done. */
  async #attempt(api: ApiClient): Promise<boolean> {
    const label = `${this.#name}-${this.#count++}`;
    const answer = await api.send('POST', '/keys', { label, scope: 'READ' }).catch(() => undefined);
    if (answer?.status !== CREATED) return false;
    this.#acknowledged.push(label);
    this.#lastAt = performance.now();
    return true;
  }
}
