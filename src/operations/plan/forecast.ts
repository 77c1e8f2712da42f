/** What the controllers say would become of a changed content. Implemented by `controllers/master/forecast`. */
import type { Configuration } from '../../model/configuration.js';

/** A content that is to be in force, or a configuration that is to go. */
export interface PlannedContent {
  readonly name: string;
  /** Null: the configuration goes. */
  readonly to: { readonly configuration: Configuration; readonly hash: string } | null;
}

/** What becomes of the instances of one configuration, until nothing more is to do. */
export interface ServiceForecast {
  /** New ones, beside those that take the place of another one. */
  readonly create: number;
  /** Another one takes its place. */
  readonly replace: number;
  /** Restarted in place. */
  readonly restart: number;
  /** Stopped or removed, and nothing takes their place. */
  readonly stop: number;
  /** Left alone. */
  readonly keep: number;
  /** Of those that are replaced, restarted or stopped: their players are waited for. */
  readonly waitForPlayers: number;
  /** Of `keep`: a rollout replaces them once its canaries are promoted. */
  readonly onPromotion: number;
  /** Of `keep`: they were made from another content, and go on with it. */
  readonly older: number;
  /** A rollout holds this content back: nothing is made from it. */
  readonly isHeldBack: boolean;
}

/** New instances that fit nowhere, or static ones that cannot take a content where they are. */
export interface Shortage {
  readonly configurationName: string;
  /** How many need a place. */
  readonly wanted: number;
  readonly missing: number;
  /** Placement's words: `0/3 nodes fit: ...`. */
  readonly message: string;
}

export interface Forecast {
  readonly services: ReadonlyMap<string, ServiceForecast>;
  readonly shortages: readonly Shortage[];
  /** So many new instances were not looked for a place: there are too many. */
  readonly unjudged: number;
}

export interface Forecaster {
  /** Looks at all contents together, on the state as it is. Writes nothing. */
  forecast(contents: readonly PlannedContent[]): Forecast;
}
