/** The facts from which one rollout is decided, gathered by the reconciler. Durations count from that moment. */
import type { Players } from '../../../src/model/instance.js';
import type { RolloutRecord } from '../../../src/model/rollout.js';
import type { Update } from '../../../src/model/update.js';
import type { Outlook } from '../replacement/facts.js';

/** An instance of the configuration that is wanted and not at rest, nor on a lost node. */
export interface Member {
  readonly id: string;
  readonly createdAt: number;
  /**
   * `current`: the member is what the rollout brings: its content, or one that needs no other process, and its generation.
   * `unsafe`: the member is static and what the rollout brings is not, so an update in place would empty its directory.
   */
  readonly content: 'current' | 'outdated' | 'unsafe';
  readonly revision: string;
  readonly static: boolean;
  /**
   * How long the member has been up without a restart: ONLINE by a report of its node, which is connected; or finished
   * with exit code 0. Null: it is not up.
   */
  readonly up: { readonly forMs: number } | null;
  /** Its run is not the one that was there when the rollout first looked. */
  readonly hasRestarted: boolean;
  readonly players: Players;
  readonly role: Role;
  /** `here`: connected, or the member has none, so it can be ended now. `draining`: the drain of the node moves it. */
  readonly node: 'here' | 'draining' | 'away';
  /** Its record says that it is outdated. */
  readonly isMarked: boolean;
  /** Why it is not up, as its status says. */
  readonly message: string | null;
}

/**
 * `first`: the member replaces nobody. `heir`: its original is no member any more. `spare`: it stands beside its original.
 */
export type Role =
  | { readonly is: 'first' }
  | { readonly is: 'heir' }
  | { readonly is: 'spare'; readonly of: string };

/** The configuration is gone, and its rollout goes with it. */
export interface GoneFacts {
  readonly kind: 'gone';
  readonly name: string;
}

export interface RolloutFacts {
  readonly kind: 'rollout';
  readonly name: string;
  /** Unix milliseconds; for records only. */
  readonly now: number;
  /** The revision that the file says. */
  readonly hash: string;
  readonly update: Update;
  /** Undefined: there is none yet. */
  readonly rollout: RolloutRecord | undefined;
  /** The file says another content than the rollout has taken up. */
  readonly isNews: boolean;
  /** In order of age. */
  readonly members: readonly Member[];
  /** The outlook of one more instance of the content that the rollout brings. */
  readonly outlook: Outlook;
  /** Since the rollout began, and since its last progress; 0 where there is none. */
  readonly agedMs: number;
  readonly stalledMs: number;
  /** The digests of the templates that the members have, by `templateKeyOf`; empty unless `update.templates`. */
  readonly templates: Readonly<Record<string, string>>;
}
