/** `config ...` in the daemon. */
import type { CommandRuns } from '../../command-tree/commands.js';
import { type CONFIGURATION_COMMANDS, deletedText } from '../../command-tree/groups/configurations.js';
import { DroverError } from '../../model/errors.js';
import { diffOf } from '../../operations/configuration-diff.js';
import { listConfigurations, listRemoved } from '../../operations/configuration-list.js';
import { reloadConfigurations } from '../../operations/configuration-reload.js';
import { scaleConfiguration } from '../../operations/configuration-scale.js';
import type { CommandDependencies } from '../context.js';
import { findConfiguration, unknownConfiguration } from '../find.js';

type ConfigurationRuns = Pick<CommandRuns, keyof typeof CONFIGURATION_COMMANDS>;

export function configurationRuns(dependencies: CommandDependencies): ConfigurationRuns {
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
    'config diff': ({ name }) => {
      findConfiguration(dependencies, name);
      return diffOf(dependencies, name);
    },
    'config scale': ({ name, count }) => {
      findConfiguration(dependencies, name);
      return scaleConfiguration(dependencies, name, count);
    },
    'config delete': async ({ name }) => {
      findConfiguration(dependencies, name);
      await dependencies.configurationFiles.remove(name);
      return { message: deletedText(name), name };
    },
  };
}
