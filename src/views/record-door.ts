/** How a view writes the state: the leader has the store, any other master asks the leader. */

export interface RecordDoor<Edit> {
  /**
   * One transaction. Resolves with its revision. Throws DRV_STORE_CONFLICT when a record is at another revision, and
   * what hinders the write.
   */
  write(edits: readonly Edit[]): Promise<number>;
}
