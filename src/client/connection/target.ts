/** The master that a connection goes to, as `choose-target.ts` found it. */
import type { KeySource } from './key-source.js';
import type { Trust } from './trust.js';

export interface Target {
  /** The person's name for the master: a context, a root, or an address. */
  readonly name: string;
  readonly kind: 'context' | 'root' | 'environment';
  /** The address of the master, without `/api`. */
  readonly url: string;
  readonly key: KeySource;
  readonly trust: Trust;
}
