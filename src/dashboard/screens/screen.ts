/** What every screen is: a module that exports a component `Screen` with these props. */

export interface ScreenProps {
  /** The path below the screen's own: `#/instances/a1f1so` gives Instance `['a1f1so']`. The query is the router's. */
  readonly path: readonly string[];
}
