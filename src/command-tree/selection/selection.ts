/** Which instances an action is for, as it was typed: ids, or all of a configuration, a group or a node. */
import type { Command } from 'commander';
import { invalid } from '../command.js';

/** The configuration, group and node that an instance must have. Without any field the filter takes all instances. */
export interface InstanceFilter {
  readonly configuration?: string | undefined;
  /** A name in the `instanceGroups` of its configuration. */
  readonly group?: string;
  readonly node?: string;
}

/** `ids`: at least one id, and no id twice. */
export type Selection = { readonly ids: readonly string[] } | { readonly filter: InstanceFilter };

export interface Selecting {
  readonly selection: Selection;
}

export interface SelectionOptions extends InstanceFilter {
  readonly all?: true;
}

/** Arguments of a command that takes a selection. */
export const SELECTION_USAGE = '[id...]';

/** The options that choose instances, by the names that the parser gives them. */
export const SELECTING = ['configuration', 'group', 'node', 'all'] as const;

export function declareFilter(command: Command): Command {
  return command
    .option('--configuration <name>', 'all instances of a configuration')
    .option('--group <name>', 'all of the configurations with this name in instanceGroups')
    .option('--node <node>', 'all on a node');
}

export function declareSelection(command: Command): void {
  declareFilter(command).option('--all', 'all instances');
}

/** Throws DRV_COMMAND_INVALID unless instances are chosen in one way. */
export function selectionOf(
  ids: readonly string[],
  { configuration, group, node, all }: SelectionOptions,
): Selection {
  const filter: InstanceFilter = {
    ...(configuration !== undefined && { configuration }),
    ...(group !== undefined && { group }),
    ...(node !== undefined && { node }),
  };
  const isFiltered = Object.keys(filter).length > 0;
  if (ids.length === 0 && !isFiltered && all !== true)
    throw invalid('name instances by their ids, or give --configuration, --group, --node or --all');
  if (ids.length > 0 && (isFiltered || all === true))
    throw invalid('give ids, or --configuration, --group, --node or --all, and not both');
  if (isFiltered && all === true) throw invalid('--all takes all instances: nothing else chooses beside it');
  return ids.length > 0 ? { ids: [...new Set(ids)] } : { filter };
}

/**
 * The id when exactly one instance was named; undefined: the selection may hold more instances, so a person is asked
 * first.
 */
export function singleId(selection: Selection): string | undefined {
  return 'ids' in selection && selection.ids.length === 1 ? selection.ids[0] : undefined;
}
