/** The topics with entries: the type and the key of an entry. */
import type { NodeState } from '../api/routes/cluster-routes.js';
import type { ConfigurationHealth } from '../explain/concerns.js';
import type { Configuration } from '../model/configuration.js';
import type { ShownEvent } from '../model/event.js';
import type { ShownExit } from '../model/exit-record.js';
import type { InstanceInfo } from '../model/instance.js';
import type { InstanceUsage } from '../model/run/instance-usage.js';
import type { ShownRollout } from '../operations/rollouts/rollouts.js';

/** The type of each topic's entries. */
export interface Topics {
  readonly instances: InstanceInfo;
  readonly configurations: {
    readonly name: string;
    readonly file: string;
    readonly revision: string;
    readonly configuration: Configuration;
  };
  readonly health: ConfigurationHealth;
  readonly nodes: NodeState;
  readonly templates: { readonly group: string; readonly name: string; readonly storage: string };
  readonly rollouts: ShownRollout;
  readonly events: ShownEvent;
  readonly exits: ShownExit;
  readonly usage: InstanceUsage & {
    readonly instance: string;
    readonly configuration: string;
    readonly node: string;
  };
}
export type TopicName = keyof Topics;

/** The key of an entry. A `changes` message names removed entries by this key. */
export const KEY_OF: { readonly [Name in TopicName]: (entry: Topics[Name]) => string } = {
  instances: ({ id }) => id,
  configurations: ({ name }) => name,
  health: ({ name }) => name,
  nodes: ({ nodeId }) => nodeId,
  templates: ({ group, name }) => `${group}/${name}`,
  rollouts: ({ configurationName }) => configurationName,
  events: ({ id }) => id,
  exits: ({ id }) => id,
  usage: ({ instance }) => instance,
};
