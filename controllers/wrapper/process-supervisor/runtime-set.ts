/** The runtimes of a node as the supervisor sees them. */
import { DroverError } from '../../../src/model/errors.js';
import type { Runtime } from '../../../src/runtime/runtime.js';

/** Which runtimes the node has, and why one cannot be used. */
export interface RuntimeSet {
  get(key: string): Runtime | undefined;
  /** Null: it can be used. */
  problemOf(key: string): string | null;
  /** A start found its tool gone: what is offered should be looked at now. */
  probeNow(): void;
}

/** Throws DRV_RUNTIME_UNAVAILABLE for one that this node does not know. */
export function runtimeOf(runtimes: RuntimeSet, key: string): Runtime {
  const runtime = runtimes.get(key);
  if (runtime === undefined)
    throw new DroverError('DRV_RUNTIME_UNAVAILABLE', `this node has no runtime ${key}`);
  return runtime;
}
