/**
 * A client that writes all the time to whichever master takes it, and keeps what was acknowledged: each must be read
 * for ever after.
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

  /** `name`: what its keys begin with. `apis`: of the masters to ask, at this moment. */
  constructor(name: string, apis: () => readonly ApiClient[]) {
    this.#name = name;
    this.#apis = apis;
  }

  /** Writes once, to each master in turn until one has taken it. Resolves with the time of the answer. */
  async write(): Promise<number> {
    for (;;) {
      for (const api of this.#apis()) if (await this.#attempt(api)) return this.#lastAt;
    }
  }

  /** Throws unless all that was acknowledged is there. */
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

  /** One try of a label of its own. What is refused or not answered may have been done. */
  async #attempt(api: ApiClient): Promise<boolean> {
    const label = `${this.#name}-${this.#count++}`;
    const answer = await api.send('POST', '/keys', { label, scope: 'READ' }).catch(() => undefined);
    if (answer?.status !== CREATED) return false;
    this.#acknowledged.push(label);
    this.#lastAt = performance.now();
    return true;
  }
}
