/** `drover describe`: facts, why with the last runs, and rollout, in one form for instances, configurations and nodes. */
import type { InstanceDetails } from '../api/routes/instances/instance-details.js';
import { type Columns, fieldsOf, type View } from '../command-tree/command.js';
import { NODE_COLUMNS } from '../command-tree/groups/cluster.js';
import { CONFIGURATION_COLUMNS } from '../command-tree/groups/configurations.js';
import { describeInstance } from '../command-tree/groups/instance-text.js';
import { rolloutSentence } from '../command-tree/groups/rollouts.js';
import { type ApiCalls, find, pathPart } from '../command-tree/runs/api-calls.js';
import { KIND_OF } from './live/wait.js';

const LISTS = {
  config: { path: '/cluster/configurations', columns: CONFIGURATION_COLUMNS, name: 'NAME' },
  node: { path: '/cluster/nodes?details=true', columns: NODE_COLUMNS, name: 'NODE' },
} as const;

/** Asks for all that is told of a thing, and returns its text for a reader. Throws a ClientError. */
export async function describeThing(
  api: ApiCalls,
  kind: 'instance' | 'config' | 'node',
  name: string,
): Promise<(view: View) => string> {
  const { path, render } = KIND_OF[kind];
  const why = await api.get<never>(`${path}/${pathPart(name)}/why`);
  if (kind === 'instance') {
    const details = await api.get<InstanceDetails>(`${path}/${pathPart(name)}/details`);
    const rollout = await rolloutOf(api, details.configurationName);
    return (view) =>
      [describeInstance(details, view.now), render(why, view.columns), ...rollout].join('\n\n');
  }
  const list = LISTS[kind];
  const columns: Columns<never> = list.columns;
  const rows = await api.get<never[]>(list.path);
  const row = rows.find((one) => columns[list.name]?.(one, 0) === name);
  const rollout = kind === 'node' ? [] : await rolloutOf(api, name);
  return (view) => {
    const facts = Object.entries(columns).map(([head, cellOf]) => [
      head.toLowerCase(),
      row && cellOf(row, view.now),
    ]);
    return [fieldsOf(Object.fromEntries(facts)), render(why, view.columns), ...rollout]
      .filter((text) => text !== '')
      .join('\n\n');
  };
}

/** The sentence about the rollout of a configuration; nothing when there has been none. */
async function rolloutOf(api: ApiCalls, configuration: string): Promise<string[]> {
  const rollout = await find<Parameters<typeof rolloutSentence>[0]>(
    api,
    `/rollouts/${pathPart(configuration)}`,
  );
  return rollout === undefined ? [] : [rolloutSentence(rollout)];
}
