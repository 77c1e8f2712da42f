/**
 * A stored value that does not decode: another version wrote it, or a message that should have been refused. It stays
 * in the store, byte for byte, until a writer replaces or removes it.
 */
export interface SetAside {
  readonly value: unknown;
  readonly revision: number;
  /** The fault of the value, for a person. */
  readonly problem: string;
}
