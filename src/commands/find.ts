/** Finds the record that a command names. When there is none, the error suggests the name that was probably meant. */

import { suggest } from '../command-tree/suggest.js';
import type { ConfigurationRecord } from '../model/configuration.js';
import { DroverError } from '../model/errors.js';
import type { InstanceRecord } from '../model/instance.js';
import type { NodeRecord } from '../model/node.js';
import { unreadableInstance } from '../model/unknown.js';
import { quoteText } from '../model/words.js';
import { visibleInstances } from '../operations/instance-details.js';
import type { CommandDependencies } from './context.js';

/** Returns the record of an instance that clients may see. Throws DRV_INSTANCE_UNKNOWN. */
export function findInstance(
  { instances }: Pick<CommandDependencies, 'instances'>,
  id: string,
): InstanceRecord {
  const record = instances.get(id)?.value;
  if (record !== undefined && record.desired.goal !== 'remove') return record;
  const aside = instances.setAside.get(id);
  if (aside !== undefined) throw unreadableInstance(id, aside.problem);
  const ids = [...visibleInstances({ instances })].map((known) => known.id);
  throw new DroverError(
    'DRV_INSTANCE_UNKNOWN',
    `there is no instance ${quoteText(id)}${suggest(id, ids, 'instance list')}`,
  );
}

/**
 * Checks that clients may see an instance, or that its record is there and cannot be read. For commands that can deal
 * with both. Throws DRV_INSTANCE_UNKNOWN.
 */
export function requireInstance(needs: Pick<CommandDependencies, 'instances'>, id: string): void {
  if (!needs.instances.setAside.has(id)) findInstance(needs, id);
}

/** Returns the record of a configuration. Throws DRV_CONFIGURATION_UNKNOWN. */
export function findConfiguration(
  { configurations }: Pick<CommandDependencies, 'configurations'>,
  name: string,
): ConfigurationRecord {
  const record = configurations.get(name)?.value;
  if (record === undefined) throw unknownConfiguration({ configurations }, name);
  return record;
}

export function unknownConfiguration(
  { configurations }: Pick<CommandDependencies, 'configurations'>,
  name: string,
): DroverError {
  const names = [...configurations.entries()].map(([known]) => known);
  return new DroverError(
    'DRV_CONFIGURATION_UNKNOWN',
    `there is no configuration ${quoteText(name)}${suggest(name, names, 'config list')}`,
  );
}

/** Returns the record of a node. Throws DRV_NODE_UNKNOWN. */
export function findNode({ nodes }: Pick<CommandDependencies, 'nodes'>, id: string): NodeRecord {
  const record = nodes.get(id)?.value;
  if (record !== undefined) return record;
  const ids = [...nodes.entries()].map(([known]) => known);
  throw new DroverError(
    'DRV_NODE_UNKNOWN',
    `there is no node ${quoteText(id)}${suggest(id, ids, 'cluster nodes')}`,
  );
}

/** Checks that a node is known, or that its record is there and cannot be read. Throws DRV_NODE_UNKNOWN. */
export function requireNode(needs: Pick<CommandDependencies, 'nodes'>, id: string): void {
  if (!needs.nodes.setAside.has(id)) findNode(needs, id);
}
