/** The command `extension list`. */
import type { ExtensionStatus } from '../../extensions/extension.js';
import { describe, noInput, tableOf } from '../command.js';

export const EXTENSION_COMMANDS = {
  'extension list': describe({
    about: 'all extensions, what they add, and which failed',
    input: noInput,
    text: (listed: readonly ExtensionStatus[], view) =>
      tableOf(
        view,
        ['ID', 'VERSION', 'STATE', 'ABOUT'],
        listed.map((status) => [status.id, status.version, status.state, aboutOf(status)]),
        'there are no extensions',
      ),
    names: (listed) => listed.map(({ id }) => id),
  }),
};

/** Describes what the extension is and adds, or what is wrong with it. */
function aboutOf({ state, error, adds, description, name }: ExtensionStatus): string {
  if (error !== null) return state === 'active' ? `${adds.join(', ')}; last error: ${error}` : error;
  const parts = [adds.join(', '), description ?? name].filter((part) => part !== '');
  return parts.join('; ');
}
