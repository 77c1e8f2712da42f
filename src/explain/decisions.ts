/**
 * What the master's controllers tell `why`: what they know and what they are about to do. Implemented by
 * controllers/master.
 */
import type { Configuration } from '../model/configuration.js';
import type { NodeVerdict, PortHolder } from './explanation.js';

/** Placement's view of one instance. */
export interface PlacementView {
  /** `place`: it needs a node. `move`: it needs another port on its node. */
  readonly task: 'place' | 'move';
  /** One for each node that was asked; those that fit come first. */
  readonly nodes: readonly NodeVerdict[];
  /** How many nodes failed which condition, in one line; empty when all fit. */
  readonly summary: string;
  /** It asks for more RAM or CPU than any of the nodes that are short of it has in all. */
  readonly isTooLarge: boolean;
  /** Nodes that would fit and are expected back since this master started: it waits for them; null: it does not. */
  readonly awaited: { readonly nodeIds: readonly string[]; readonly forMs: number } | null;
  /** Templates that cannot be chosen: they come before every node. */
  readonly templateProblems: readonly string[];
  readonly ports: { readonly min: number; readonly max: number } | null;
  /** Port holders on nodes without a free port. Not all of them when there are many. */
  readonly portHolders: readonly PortHolder[];
  readonly portHoldersTotal: number;
}

/** Instances that end by themselves, now or when their players have left. */
export interface LeavingView {
  readonly going: number;
  readonly waiting: number;
}

/** Minimum-service's view of one configuration. */
export interface ServiceView {
  readonly minimum: number;
  readonly maximum: number | null;
  /** Ids of the instances that count towards the minimum. */
  readonly counted: ReadonlySet<string>;
  /** Number of instances that the next pass creates. */
  readonly creating: number;
  /** Number of instances that the next pass stops. */
  readonly stopping: number;
  /** What is left of a lowered minimum and goes, now or when its players have left. */
  readonly surplus: LeavingView;
  /** The delay before the next creation; null when there is none. */
  readonly nextCreationInMs: number | null;
  /** Passes in a row whose instances did not last a minute. */
  readonly failedPasses: number;
}

/** The heartbeat controller's view of one node. */
export interface ContactView {
  readonly isConnected: boolean;
  /** Since its last beat. */
  readonly silentMs: number;
  /** Time since it said that it will be back; null when it did not. */
  readonly goneForMs: number | null;
  /** Time until it counts as lost, if no beat comes; null when it is lost. */
  readonly lostInMs: number | null;
}

export interface Decisions {
  /** Undefined: the instance waits neither for a node nor for another port. */
  placementOf(instanceId: string): PlacementView | undefined;
  /** Placement's view of one more instance of the configuration. */
  placementOfNext(configuration: Configuration): PlacementView;
  /** Undefined: no such configuration. */
  serviceOf(configurationName: string): ServiceView | undefined;
  /** What ends of a configuration that is gone, because its content says so. */
  leavingOf(configurationName: string): LeavingView;
  /** Undefined: no such node. */
  contactOf(nodeId: string): ContactView | undefined;
  /** The effect of a drain of its node on an instance; undefined when the node is not being drained. */
  moveOf(instanceId: string): string | undefined;
}
