/** What the controllers would do about a changed content. `controllers/master/forecast` implements it. */
import type { Configuration } from '../../model/configuration.js';
import type { ChangePlan, PlannedConfiguration } from './change-plan.js';

/** A content that is to come into force, or a configuration that is to be removed. */
export interface PlannedContent {
  readonly name: string;
  /** The content; null: the configuration is removed. */
  readonly to: { readonly configuration: Configuration; readonly hash: string } | null;
}

/** What happens to the instances of one configuration, until the controllers have nothing more to do. */
export interface ServiceForecast extends Readonly<PlannedConfiguration['effects']> {
  /** How many of `keep` a rollout replaces when its canaries are promoted. */
  readonly onPromotion: number;
  /** How many of `keep` were made from an older content, and go on with it. */
  readonly older: number;
  /** Why a rollout holds this content back, so that no instance is made from it; null: it does not. */
  readonly heldBack: string | null;
}

/** New instances that fit on no node, or static instances whose node cannot take their new content. */
export type Shortage = ChangePlan['shortages'][number];

export interface Forecast {
  readonly services: ReadonlyMap<string, ServiceForecast>;
  readonly shortages: readonly Shortage[];
  /** How many new instances were not given to placement, because there are too many. */
  readonly unjudged: number;
}

export interface Forecaster {
  /**
   * Forecasts all contents together, on the present state. Many contents take several turns of the event loop: then a
   * change meanwhile may count or not. Writes nothing.
   */
  forecast(contents: readonly PlannedContent[]): Promise<Forecast>;
}
