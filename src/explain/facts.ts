/** The facts behind an explanation. All durations were measured when the facts were gathered. */
import type {
  ConfigurationFileError,
  ConfigurationFileWarning,
  ConfigurationRecord,
} from '../model/configuration.js';
import type { ShownOverride } from '../model/configuration-overrides.js';
import type { ExitRecord } from '../model/exit-record.js';
import type { FileInGit, GitStanding } from '../model/git-standing.js';
import type { InstanceRecord } from '../model/instance.js';
import type { NodeRecord } from '../model/node.js';
import type { RolloutRecord } from '../model/rollout.js';
import type { InstanceDescription } from '../model/run/instance-description.js';
import type { Freeze, ShownSchedule } from '../model/schedule.js';
import type { ContactView, LeavingView, PlacementView, ServiceView } from './decisions.js';

/** The answer of the instance's node. */
export type NodeAnswer =
  /** The instance has no node. */
  | { readonly kind: 'none' }
  /** `description` undefined: the node does not know the instance yet. */
  | { readonly kind: 'answered'; readonly description: InstanceDescription | undefined }
  | { readonly kind: 'silent'; readonly why: string };

export interface InstanceFacts {
  readonly record: InstanceRecord;
  /** The configuration in force under its name; undefined when there is none any more. */
  readonly configuration: ConfigurationRecord | undefined;
  /** Faults of files that concern this configuration. */
  readonly fileErrors: readonly ConfigurationFileError[];
  /** Fields of the configuration's file that have no effect. */
  readonly fileWarnings: readonly ConfigurationFileWarning[];
  readonly placement: PlacementView | undefined;
  readonly service: ServiceView | undefined;
  /** The node where it is placed. */
  readonly node: NodeRecord | undefined;
  readonly contact: ContactView | undefined;
  /** The meaning of its node's drain for the instance, in words; absent: the node is not being drained. */
  readonly move?: string | undefined;
  readonly answer: NodeAnswer;
  /** The last ends that nobody asked for, newest first. Absent: not asked for. */
  readonly lastExits?: readonly ExitRecord[];
}

/** The file of a configuration in its git work tree. */
export interface GitFacts {
  readonly standing: GitStanding;
  /** Undefined: not known. */
  readonly file: FileInGit | undefined;
  /** The commit that brought the content in force; null: none, or not known. */
  readonly commitInForce: string | null;
}

export interface ConfigurationFacts {
  readonly name: string;
  /** Undefined: the file is in no work tree of this master. */
  readonly git: GitFacts | undefined;
  /** The record; undefined: no configuration is in force under this name. */
  readonly record: ConfigurationRecord | undefined;
  readonly fileErrors: readonly ConfigurationFileError[];
  /** Fields of the configuration's file that have no effect. */
  readonly fileWarnings: readonly ConfigurationFileWarning[];
  /** The changes of callers beside the file. */
  readonly overrides: readonly ShownOverride[];
  readonly service: ServiceView | undefined;
  /** The instances that end because the configuration is gone. */
  readonly leaving: LeavingView;
  /** The rollout; undefined: the configuration has had none. */
  readonly rollout: RolloutRecord | undefined;
  readonly schedules: readonly ShownSchedule[];
  /** How the configuration is frozen. */
  readonly frozen: Freeze | undefined;
  /** The placement of one more instance; undefined when no configuration is in force. */
  readonly placement: PlacementView | undefined;
  /** The instances, those in trouble first. Not all of them when there are many. */
  readonly instances: readonly InstanceFacts[];
  readonly instancesTotal: number;
  /** Ids of instances whose records cannot be read. `instances` does not have them. */
  readonly unreadable: readonly string[];
  /** The last ends that nobody asked for, newest first. */
  readonly lastExits: readonly ExitRecord[];
  /** How many instances should run; `online` counts those of them that are ONLINE. */
  readonly wanted: number;
  readonly online: number;
}

/** One possible explanation, with its consequences. */
export interface Story {
  /** The verdict, to be read after the name: `waits 4 s for restart 3: it exited with code 1`. */
  readonly says: string;
  /** The next events that need no operator, as sentences. */
  readonly next?: string | undefined;
  /** The things that the operator can do, as sentences. */
  readonly advice?: string | undefined;
  /** Default false. */
  readonly isSettled?: boolean;
}
