/** `instance ...` in the daemon. */
import { requireProcess, stdinCommand } from '../../channel/services/stdin-command.js';
import type { CommandRuns, RunCall } from '../../command-tree/commands.js';
import { byConfiguration } from '../../command-tree/groups/instance-text.js';
import type { INSTANCE_COMMANDS } from '../../command-tree/groups/instances.js';
import { leftOf } from '../../command-tree/groups/left-text.js';
import type { InstanceMessage, Refusal } from '../../command-tree/selection/act.js';
import { actOnInstances } from '../../command-tree/selection/act.js';
import type { InstanceAction, KnownInstances } from '../../command-tree/selection/choose.js';
import type { Selecting } from '../../command-tree/selection/selection.js';
import { DroverError, messageOf } from '../../model/errors.js';
import type { InstanceRecord } from '../../model/instance.js';
import { detailsOf, infoOf, visibleInstances } from '../../operations/instance-details.js';
import { changeLifecycle, deleteInstance } from '../../operations/instance-lifecycle.js';
import { readInstanceLog } from '../../operations/instance-log.js';
import { type UpdateBody, updateInstance } from '../../operations/instance-update.js';
import { adoptDirectory, listLeft } from '../../operations/left-directories.js';
import type { LifecycleTarget } from '../../state/instance-changes.js';
import type { CommandDependencies } from '../context.js';
import { findConfiguration, findInstance, requireInstance } from '../find.js';

type InstanceRuns = Pick<CommandRuns, keyof typeof INSTANCE_COMMANDS>;

export function instanceRuns(dependencies: CommandDependencies): InstanceRuns {
  const act =
    <Input extends Selecting, Done extends InstanceMessage>(
      action: InstanceAction,
      perform: (id: string, input: Input) => Promise<Done>,
    ) =>
    (input: Input, { signal, confirm }: RunCall) => {
      const host = {
        known: () => knownTo(dependencies),
        perform: (id: string) => perform(id, input),
        refusalOf,
      };
      return actOnInstances(host, { action, input, signal, confirm });
    };
  const lifecycle = (target: LifecycleTarget) =>
    act(target, async (id) => {
      findInstance(dependencies, id);
      return { message: await changeLifecycle(dependencies, id, target), instanceId: id, target };
    });
  return {
    'instance list': async ({ configuration, left }) => {
      if (left === true) return leftOf(await listLeft(dependencies, () => true), configuration);
      const found = [...visibleInstances(dependencies)]
        .filter(({ configurationName }) => configuration === undefined || configurationName === configuration)
        .map((record) => infoOf(record, dependencies))
        .sort(byConfiguration);
      // Instances may outlive their configuration.
      if (configuration !== undefined && found.length === 0) findConfiguration(dependencies, configuration);
      return found;
    },
    'instance info': ({ id }) => detailsOf(findInstance(dependencies, id), dependencies),
    'instance why': ({ id }) => {
      requireInstance(dependencies, id);
      return dependencies.explainer.instance(id);
    },
    'instance logs': ({ id, ...question }) =>
      readInstanceLog(dependencies, findInstance(dependencies, id), question),
    'instance adopt': async ({ directory: id, configuration: configurationName }) => {
      if (configurationName !== undefined) findConfiguration(dependencies, configurationName);
      const record = await adoptDirectory(dependencies, { id, configurationName, sees: () => true });
      return infoOf(record, dependencies);
    },
    'instance create': (input, call) => create(dependencies, input, call),
    'instance stop': lifecycle('stop'),
    'instance start': lifecycle('start'),
    'instance restart': lifecycle('restart'),
    'instance update': act('update', (id, { waitForPlayers }: Selecting & UpdateBody) => {
      findInstance(dependencies, id);
      return updateInstance(dependencies, id, { waitForPlayers });
    }),
    'instance delete': act('delete', async (id) => {
      requireInstance(dependencies, id);
      return { message: await deleteInstance(dependencies, id), instanceId: id };
    }),
    'instance execute': async ({ id, command }) => {
      const record = findInstance(dependencies, id);
      requireProcess(record);
      await dependencies.streams.writeStdin(record, stdinCommand(command, 'command'));
      return { message: `command sent to instance ${id}`, instanceId: id, command };
    },
  };
}

function knownTo(dependencies: CommandDependencies): KnownInstances {
  const instances = [...visibleInstances(dependencies)]
    .map((record) => infoOf(record, dependencies))
    .sort(byConfiguration);
  const groups = [...dependencies.configurations.entries()].map(
    ([name, { value }]) => [name, value.configuration.instanceGroups] as const,
  );
  return { instances, groups: new Map(groups) };
}

function refusalOf(error: unknown): Refusal | undefined {
  if (!(error instanceof DroverError)) return undefined;
  return { message: error.message, exitCode: 1, isFinal: false };
}

async function create(
  dependencies: CommandDependencies,
  { configuration, count }: { readonly configuration: string; readonly count: number },
  { signal }: RunCall,
) {
  findConfiguration(dependencies, configuration);
  const created: InstanceRecord[] = [];
  while (created.length < count) {
    if (signal.aborted) throw incomplete(created, count, new Error('the caller stopped waiting'));
    try {
      created.push(await dependencies.creations.create(configuration));
    } catch (error) {
      throw incomplete(created, count, error);
    }
  }
  return created.map((record) => infoOf(record, dependencies));
}

/** Adds to the error of a creation the instances that were made before it. */
function incomplete(created: readonly InstanceRecord[], count: number, error: unknown): unknown {
  if (created.length === 0) return error;
  const code = error instanceof DroverError ? error.code : 'DRV_COMMAND_INVALID';
  const ids = created.map(({ id }) => id).join(', ');
  const message = `${created.length} of ${count} instances were created (${ids}), then: ${messageOf(error)}`;
  return new DroverError(code, message, { cause: error });
}
