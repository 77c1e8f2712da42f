/** The container runs of this root that the daemon knows, by run and by container. */
import { type Held, keyOf, type RunId } from '../runtime.js';
import type { ContainerRun } from './container-run.js';

export class ContainerBook {
  readonly #runs = new Map<string, ContainerRun>();

  add(run: ContainerRun): void {
    this.#runs.set(keyOf(run.id), run);
  }

  delete(run: RunId): void {
    this.#runs.delete(keyOf(run));
  }

  get(run: RunId): ContainerRun | undefined {
    return this.#runs.get(keyOf(run));
  }

  /** The run of a container. */
  of(containerId: string): ContainerRun | undefined {
    return this.all().find((run) => run.containerId === containerId);
  }

  /** The run of an instance that has not ended. */
  liveOf(instanceId: string): ContainerRun | undefined {
    return this.all().find((run) => run.id.instanceId === instanceId && run.exit === null);
  }

  all(): ContainerRun[] {
    return [...this.#runs.values()];
  }

  held(): Held[] {
    return this.all().flatMap((run) => (run.isAcknowledged ? [] : [run.held]));
  }
}
