/** People who look on while masters go: `drover logs -f` and `drover instance list --watch`, through each of the masters. */
import { expect } from 'vitest';
import { ClientProcess } from '../support/client/client-process.js';
import { until } from '../support/until.js';
import { type Fleet, MASTERS } from './fleet.js';

export class Onlookers {
  readonly #fleet: Fleet;
  readonly #logs: ReadonlyMap<string, ClientProcess>;
  readonly #lists: ReadonlyMap<string, ClientProcess>;

  constructor(fleet: Fleet, instance: string) {
    this.#fleet = fleet;
    const each = (...words: string[]): Map<string, ClientProcess> =>
      new Map(MASTERS.map((master) => [master, this.#run(master, words)]));
    this.#logs = each('logs', '-f', instance);
    this.#lists = each('instance', 'list', '--watch', '-o', 'name');
  }

  /** Resolves when all of them have seen what happens now. Throws when a line was lost. */
  async goOn(): Promise<void> {
    const before = new Map([...this.#logs].map(([master, { lines }]) => [master, lines.length]));
    const api = this.#fleet.world.apiOf(MASTERS[0] ?? '');
    const { id } = await until(() => api.create('probe'));
    await until(async () => expect((await api.instance(id)).state).toBe('ONLINE'));
    for (const [master, list] of this.#lists)
      await until(() => expect(list.lines, `--watch through ${master}\n${list.err}`).toContain(id));
    for (const [master, client] of this.#logs) {
      await until(() =>
        expect(client.lines.length, `logs -f through ${master}\n${client.err}`).toBeGreaterThan(
          (before.get(master) ?? 0) + 1,
        ),
      );
      const [first] = client.lines;
      const from = Number(/\d+$/.exec(first ?? '')?.[0]);
      expect(client.lines, `logs -f through ${master}`).toEqual(
        client.lines.map((_, index) => `line ${from + index}`),
      );
    }
    await api.remove(id);
    await until(async () => expect(await api.instances('probe')).toEqual([]));
  }

  end(): void {
    for (const { child } of [...this.#logs.values(), ...this.#lists.values()]) child.kill('SIGKILL');
  }

  #run(master: string, words: readonly string[]): ClientProcess {
    const { world } = this.#fleet;
    const environment = { DROVER_URL: world.urlOf(master), DROVER_KEY_FILE: world.paths(master).adminKey };
    return new ClientProcess(words, { directory: '/', environment });
  }
}
