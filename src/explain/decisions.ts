/** What the master's controllers tell `why` of what they know and are about to do. Implemented by controllers/master. */
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
  /** It asks for more RAM or CPU than any node that is short of it has in all. */
  readonly isTooLarge: boolean;
  /** Ports are believed busy, and come free without telling anybody: when to look again; null: none is. */
  readonly recheckInMs: number | null;
  /** Templates that cannot be chosen: they come before every node. */
  readonly templateProblems: readonly string[];
  readonly ports: { readonly min: number; readonly max: number } | null;
  /** Of nodes without a free port; not all of them when there are many. */
  readonly portHolders: readonly PortHolder[];
  readonly portHoldersTotal: number;
}

/** The minimum-service enforcer's view of one configuration. */
export interface ServiceView {
  readonly minimum: number;
  readonly maximum: number | null;
  /** Ids of the instances that count towards the minimum. */
  readonly counted: ReadonlySet<string>;
  /** Instances that its next pass creates, or stops. */
  readonly creating: number;
  readonly stopping: number;
  /** The next creation is put off by so long; null: it is not. */
  readonly nextCreationInMs: number | null;
  /** Passes in a row whose instances did not stand for a minute. */
  readonly failedPasses: number;
}

/** The heartbeat controller's view of one node. */
export interface ContactView {
  readonly isConnected: boolean;
  /** Since its last beat. */
  readonly silentMs: number;
  /** Since it said that it will be back; null: it did not. */
  readonly goneForMs: number | null;
  /** It counts as lost after so long without a beat; null: it is lost. */
  readonly lostInMs: number | null;
}

export interface Decisions {
  /** Undefined: the instance waits neither for a node nor for another port. */
  placementOf(instanceId: string): PlacementView | undefined;
  /** For one more instance of the configuration. */
  placementOfNext(configuration: Configuration): PlacementView;
  /** Undefined: no such configuration. */
  serviceOf(configurationName: string): ServiceView | undefined;
  /** Undefined: no such node. */
  contactOf(nodeId: string): ContactView | undefined;
  /** What the drain of its node means for an instance; undefined: its node is not being drained. */
  moveOf(instanceId: string): string | undefined;
}
