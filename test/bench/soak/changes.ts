/** The soak's API clients: 20 changes a second, of every kind, over a number of instances that stays the same. */
import { setTimeout as delay } from 'node:timers/promises';
import type { BenchDaemon, InstanceInfo } from '../world.js';

export const PER_SECOND = 20;
/** Instances of the changed configuration, about. */
const KEPT = 30;
/** Each start writes so many lines at once. */
const COMMAND = 'seq 1 2000; exec sleep 100000';
/** One second of changes, in this order. Each `create` has a `delete`, each `stop` a `start`. */
const COURSE: readonly Change[] = [
  ...['create', 'state', 'restart', 'state', 'delete', 'stop', 'state', 'create', 'state', 'restart'],
  ...['start', 'delete', 'state', 'state', 'create', 'restart', 'state', 'delete', 'state', 'edit'],
] as Change[];

type Change = 'create' | 'delete' | 'restart' | 'stop' | 'start' | 'state' | 'edit';

export class Changes {
  readonly #daemon: BenchDaemon;
  /** The oldest first. */
  readonly #ids: string[] = [];
  readonly #stopped: string[] = [];
  readonly #underWay = new Set<Promise<void>>();
  /** Those that got an answer 2xx. */
  made = 0;
  readonly faults: string[] = [];
  #count = 0;

  constructor(daemon: BenchDaemon) {
    this.#daemon = daemon;
  }

  async prepare(): Promise<void> {
    await this.#change('edit');
    for (let index = 0; index < KEPT; index++) await this.#change('create');
    this.made = 0;
  }

  /** One every 50 ms, whether the ones before are answered or not; catches up after a late timer. */
  async run(seconds: number): Promise<void> {
    const began = performance.now();
    for (let index = 0; index < seconds * PER_SECOND; index++) {
      const change = COURSE[index % COURSE.length] ?? 'state';
      const done = this.#change(change)
        .then(
          () => void this.made++,
          (error: unknown) => void this.faults.push(`${change}: ${error}`),
        )
        .finally(() => this.#underWay.delete(done));
      this.#underWay.add(done);
      await delay(Math.max(0, began + ((index + 1) * 1000) / PER_SECOND - performance.now()));
    }
    await Promise.all(this.#underWay);
  }

  async #change(change: Change): Promise<void> {
    const daemon = this.#daemon;
    const count = this.#count++;
    switch (change) {
      case 'create': {
        const created = await daemon.request('POST', '/instances', { configurationName: 'changed' });
        this.#ids.push((created as InstanceInfo).id);
        return;
      }
      case 'delete':
        await daemon.request('DELETE', `/instances/${this.#ids.shift()}`);
        return;
      case 'restart':
        await daemon.request('PATCH', `/instances/${this.#middle(count)}/lifecycle?target=restart`);
        return;
      case 'stop': {
        const id = this.#ids.pop() ?? '';
        this.#stopped.push(id);
        await daemon.request('PATCH', `/instances/${id}/lifecycle?target=stop`);
        return;
      }
      case 'start': {
        const id = this.#stopped.shift() ?? '';
        await daemon.request('PATCH', `/instances/${id}/lifecycle?target=start`);
        this.#ids.push(id);
        return;
      }
      case 'state':
        await daemon.request('PUT', `/instances/${this.#middle(count)}/state`, {
          state: 'ONLINE',
          players: count,
        });
        return;
      case 'edit':
        await daemon.request('PUT', '/configurations/changed', {
          name: 'changed',
          command: COMMAND,
          runtime: 'process',
          ramMB: 64,
          cpu: 0,
          environmentVariables: { EDIT: String(count) },
        });
    }
  }

  /** One that no other change is about: neither the oldest nor the newest. */
  #middle(count: number): string {
    const [first, length] = [Math.floor(KEPT / 3), Math.floor(KEPT / 3)];
    return this.#ids[first + (count % length)] ?? '';
  }
}
