/**
 * The facts from which one rollout is decided, gathered by the reconciler. Durations count back from the moment of
 * gathering.
 */
import type { Players } from '../../../src/model/instance.js';
import type { RolloutFailure, RolloutRecord } from '../../../src/model/rollout.js';
import type { Update } from '../../../src/model/update.js';
import type { Outlook } from '../replacement/facts.js';

/** An instance of the configuration that is wanted and not at rest, nor on a lost node. */
export interface Member {
  readonly id: string;
  readonly createdAt: number;
  /**
   * `current`: the member has the rollout's generation, and its content or one that runs the same process. `unsafe`:
   * the member is static and the rollout's content is not, so an update in place would empty its directory.
   */
  readonly content: 'current' | 'outdated' | 'unsafe';
  readonly revision: string;
  readonly static: boolean;
  /**
   * How long the member has been up without a restart: ONLINE by a report of its node, which is connected; or finished
   * with exit code 0. Null: it is not up.
   */
  readonly up: { readonly forMs: number } | null;
  /** True when the member's process is not the run that the rollout first saw. */
  readonly hasRestarted: boolean;
  readonly players: Players;
  readonly role: Role;
  /**
   * `here`: the node is connected, so the member can be ended now. `none`: the member has no place. `draining`: the
   * drain of the node moves it. `away`: the node is not connected.
   */
  readonly node: 'here' | 'none' | 'draining' | 'away';
  /** True when the member's record says that it is outdated. */
  readonly isMarked: boolean;
  /** The message of the member's status, which says why it is not up. */
  readonly message: string | null;
  /** How its last run ended, and how many runs ended by themselves. Absent: none has. */
  readonly exit?: Pick<RolloutFailure, 'code' | 'signal' | 'crashes'>;
}

/**
 * `first`: the member replaces no other. `heir`: its original is no longer a member. `spare`: it stands beside its
 * original.
 */
export type Role =
  | { readonly is: 'first' }
  | { readonly is: 'heir' }
  | { readonly is: 'spare'; readonly of: string };

/** The facts when the configuration is gone: its rollout goes with it. */
export interface GoneFacts {
  readonly kind: 'gone';
  readonly name: string;
}

export interface RolloutFacts {
  readonly kind: 'rollout';
  readonly name: string;
  /** Unix milliseconds, used only for what the record notes. */
  readonly now: number;
  /** The revision of the configuration's file. */
  readonly hash: string;
  readonly update: Update;
  /** The record of the rollout; undefined: the configuration has none yet. */
  readonly rollout: RolloutRecord | undefined;
  /** True when the content of the file is not the one that the rollout has taken up. */
  readonly isNews: boolean;
  /** The members in order of age. */
  readonly members: readonly Member[];
  /**
   * Ids of members that minimum-service ends, now or when their players have left. Empty unless the content of a member
   * is `unsafe`.
   */
  readonly leaving: ReadonlySet<string>;
  /** The outlook of one more instance with the content of the rollout. */
  readonly outlook: Outlook;
  /** The time since the rollout began; `stalledMs`: the time since its last progress. 0 when there is none. */
  readonly agedMs: number;
  readonly stalledMs: number;
  /** The digests of the templates that the members have, by `templateKeyOf`; empty unless `update.templates`. */
  readonly templates: Readonly<Record<string, string>>;
  /** Ids of the members that run with another version of one of these templates. Absent: none. */
  readonly behind?: ReadonlySet<string>;
  /** True when a person froze the configuration: no rollout begins. */
  readonly isFrozen?: boolean;
}
