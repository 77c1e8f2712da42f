/** The facts from which one rollout is decided, gathered by the reconciler. Durations count from that moment. */
import type { RolloutRecord } from '../../../src/model/rollout.js';
import type { Update } from '../../../src/model/update.js';
import type { Outlook } from '../replacement/facts.js';

/** An instance of the configuration that is wanted and not at rest, nor on a lost node. */
export interface Member {
  readonly id: string;
  readonly createdAt: number;
  /** It is what the rollout brings: its content, or one that needs no other process, and its generation. */
  readonly isCurrent: boolean;
  readonly revision: string;
  readonly static: boolean;
  /** It is static and what the rollout brings is not: an update in place would empty its directory. */
  readonly losesFiles: boolean;
  /** ONLINE by a report of its node, which is connected; or finished with exit code 0. */
  readonly isUp: boolean;
  /** How long it has been up without a restart; null: it is not. */
  readonly upForMs: number | null;
  /** Its run is not the one that was there when the rollout first looked. */
  readonly hasRestarted: boolean;
  /** It has players, or once said how many and does not say it now. */
  readonly hasPlayers: boolean;
  /** It says that it has no players. */
  readonly isEmpty: boolean;
  /** The member that it was made to replace; null: it stands for itself. */
  readonly spareFor: string | null;
  /** It was made to replace another one, which may be gone. */
  readonly isReplacement: boolean;
  /** Its node is connected, or it has none: it can be ended now. */
  readonly isReachable: boolean;
  /** The drain of its node moves it. */
  readonly isDraining: boolean;
  /** Its record says that it is outdated. */
  readonly isMarked: boolean;
  /** Why it is not up, as its status says. */
  readonly message: string | null;
}

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
  /** What would become of one more instance of what the rollout brings. */
  readonly outlook: Outlook;
  /** Since the rollout began, and since its last progress; 0 where there is none. */
  readonly agedMs: number;
  readonly stalledMs: number;
  /** The digests of the templates that the members have, by `templateKeyOf`; empty unless `update.templates`. */
  readonly templates: Readonly<Record<string, string>>;
}
