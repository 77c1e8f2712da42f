/**
 * The interface through which `why` learns what the master's controllers know and are about to do. Implemented by
 * controllers/master.
 */
import type { Configuration } from '../model/configuration.js';
import type { NodeVerdict, PortHolder } from './explanation.js';

/** Placement's view of one instance. */
export interface PlacementView {
  /** `place`: the instance needs a node. `move`: it needs another port on its node. */
  readonly task: 'place' | 'move';
  /** The verdict of each node that was asked; nodes that fit come first. */
  readonly nodes: readonly NodeVerdict[];
  /** How many nodes failed which condition, in one line; empty when all fit. */
  readonly summary: string;
  /**
   * True when even an empty node would be too small: no node that lacks RAM or CPU has as much in all as the
   * instance needs.
   */
  readonly isTooLarge: boolean;
  /** The nodes that would fit, and for which placement waits since this master started; null: it does not wait. */
  readonly awaited: { readonly nodeIds: readonly string[]; readonly forMs: number } | null;
  /** The waits of `waitsFor` that do not hold yet, one text each; placement asks no node before all of it holds. */
  readonly waits: readonly string[];
  /** Why templates cannot be chosen; placement asks no node before they can. */
  readonly templateProblems: readonly string[];
  /** The range of the port that lacks, or of the main one; `name`: of the port, absent for the main one. */
  readonly ports: { readonly name?: string; readonly min: number; readonly max: number } | null;
  /** The holders of ports, on nodes without a free port. Not all of them when there are many. */
  readonly portHolders: readonly PortHolder[];
  readonly portHoldersTotal: number;
}

/** Counts of instances that are about to end, now or when their players have left. */
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
  /** The instances beyond a lowered minimum that go, now or when their players have left. */
  readonly surplus: LeavingView;
  /** The delay before the next creation; null when there is none. */
  readonly nextCreationInMs: number | null;
  /** How many passes in a row made instances that did not last a minute. */
  readonly failedPasses: number;
}

/** The heartbeat controller's view of one node. */
export interface ContactView {
  readonly isConnected: boolean;
  /** The time since the node's last beat. */
  readonly silentMs: number;
  /** The time since the node said that it will be back; null when it did not. */
  readonly goneForMs: number | null;
  /** The time until the node counts as lost, if no beat comes; null when it is lost. */
  readonly lostInMs: number | null;
}

export interface Decisions {
  /** Placement's view of an instance; undefined: the instance waits neither for a node nor for another port. */
  placementOf(instanceId: string): PlacementView | undefined;
  /** Placement's view of one more instance of the configuration. */
  placementOfNext(configuration: Configuration): PlacementView;
  /** Minimum-service's view of a configuration; undefined: no such configuration. */
  serviceOf(configurationName: string): ServiceView | undefined;
  /** The instances that end because the configuration is gone and their content asks for that. */
  leavingOf(configurationName: string): LeavingView;
  /** The heartbeat controller's view of a node; undefined: no such node. */
  contactOf(nodeId: string): ContactView | undefined;
  /** The meaning of its node's drain for the instance, in words; undefined: the node is not being drained. */
  moveOf(instanceId: string): string | undefined;
}
