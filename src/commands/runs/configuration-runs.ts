/** `config ...` in the daemon. */
import type { CommandRuns } from '../../command-tree/commands.js';
import { type CONFIGURATION_COMMANDS, deletedText } from '../../command-tree/groups/configurations.js';
import { DroverError } from '../../model/errors.js';
import { diffOf } from '../../operations/configuration-diff.js';
import { listConfigurations, listRemoved } from '../../operations/configuration-list.js';
import { reloadConfigurations } from '../../operations/configuration-reload.js';
import { scaleConfiguration } from '../../operations/configuration-scale.js';
import { configurationHistory, contentDiffOf } from '../../operations/rollouts/configuration-history.js';
import {
  rollBack,
  rollbackRequestSchema,
  writeBack,
} from '../../operations/rollouts/configuration-rollback.js';
import { restartConfiguration } from '../../operations/rollouts/rollouts.js';
import type { CommandDependencies } from '../context.js';
import { findConfiguration, unknownConfiguration } from '../find.js';

type ConfigurationRuns = Pick<CommandRuns, keyof typeof CONFIGURATION_COMMANDS>;

export function configurationRuns(dependencies: CommandDependencies, actor: string): ConfigurationRuns {
  return {
    'config list': () => ({
      configurations: listConfigurations(dependencies),
      removed: listRemoved(dependencies),
      brokenFiles: dependencies.configurationFiles.errors(),
    }),
    'config show': ({ name }) => findConfiguration(dependencies, name).configuration,
    'config reload': ({ confirm }) => reloadConfigurations(dependencies, confirm),
    'config why': ({ name }) =>
      dependencies.explainer.configuration(name).catch((error: unknown) => {
        throw DroverError.is(error, 'DRV_CONFIGURATION_UNKNOWN')
          ? unknownConfiguration(dependencies, name)
          : error;
      }),
    'config diff': ({ name, from, to, showValues }) => {
      findConfiguration(dependencies, name);
      return from === undefined
        ? diffOf(dependencies, name, { showValues })
        : contentDiffOf(dependencies, name, { from, to, showValues });
    },
    'config history': ({ name }) => {
      findConfiguration(dependencies, name);
      return configurationHistory(dependencies, name);
    },
    'config rollback': ({ name, to, reason, write }) => {
      findConfiguration(dependencies, name);
      const rollback = { to, reason: checkedReason(reason), by: actor };
      return write ? writeBack(dependencies, name, rollback) : rollBack(dependencies, name, rollback);
    },
    'config restart': ({ name }) => {
      findConfiguration(dependencies, name);
      return restartConfiguration(dependencies, name, actor);
    },
    'config scale': ({ name, count }) => {
      findConfiguration(dependencies, name);
      return scaleConfiguration(dependencies, name, { count, by: actor });
    },
    'config delete': async ({ name }) => {
      findConfiguration(dependencies, name);
      await dependencies.configurationFiles.remove(name);
      return { message: deletedText(name), name };
    },
  };
}

/** The same reasons that the API takes. Throws DRV_COMMAND_INVALID. */
function checkedReason(text: string): string {
  const result = rollbackRequestSchema.shape.reason.safeParse(text);
  if (result.success) return result.data;
  throw new DroverError(
    'DRV_COMMAND_INVALID',
    `--reason: ${result.error.issues[0]?.message ?? 'is no reason'}`,
  );
}
