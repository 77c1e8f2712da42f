/** The runtimes of a node as the supervisor sees them. */
import { DroverError } from '../../../src/model/errors.js';
import type { Runtime } from '../../../src/runtime/runtime.js';

/** Which runtimes the node has, and why one cannot be used. */
export interface RuntimeSet {
  get(key: string): Runtime | undefined;
  /** Why the runtime cannot be used; null: it can. */
  problemOf(key: string): string | null;
  /** Asks for a new look at the offered runtimes, because a start found its tool gone. */
  probeNow(): void;
}

/** Throws DRV_RUNTIME_UNAVAILABLE for a runtime that this node does not know. */
export function runtimeOf(runtimes: RuntimeSet, key: string): Runtime {
  const runtime = runtimes.get(key);
  if (runtime === undefined)
    throw new DroverError('DRV_RUNTIME_UNAVAILABLE', `this node has no runtime ${key}`);
  return runtime;
}
