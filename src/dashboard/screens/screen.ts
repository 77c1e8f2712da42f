/** The props of every screen. A screen is a module that exports a component `Screen` with these props. */

export interface ScreenProps {
  /**
   * The path below the screen's own: for `#/instances/a1f1so` the screen Instance gets `['a1f1so']`. The router has the
   * query.
   */
  readonly path: readonly string[];
}
