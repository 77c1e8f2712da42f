/** `key ...` in the daemon. */
import type { CommandRuns } from '../../command-tree/commands.js';
import type { KEY_COMMANDS } from '../../command-tree/groups/keys.js';
import { suggest } from '../../command-tree/suggest.js';
import { DroverError } from '../../model/errors.js';
import { quoteText } from '../../model/words.js';
import { createKey, deleteKey, listKeys } from '../../operations/api-keys.js';
import type { CommandDependencies } from '../context.js';

type KeyRuns = Pick<CommandRuns, keyof typeof KEY_COMMANDS>;

export function keyRuns(dependencies: CommandDependencies): KeyRuns {
  const remove = ({ label }: { readonly label: string }) => {
    requireKey(dependencies, label);
    return deleteKey(dependencies, label);
  };
  return {
    'key create': (key) => createKey(dependencies, key),
    'key list': () => listKeys(dependencies),
    'key delete': remove,
    'key revoke': remove,
  };
}

function requireKey({ keys }: CommandDependencies, label: string): void {
  if (keys.get(label) !== undefined || keys.setAside.has(label)) return;
  const labels = [...keys.entries()].map(([known]) => known);
  throw new DroverError(
    'DRV_KEY_UNKNOWN',
    `there is no key ${quoteText(label)}${suggest(label, labels, 'key list')}`,
  );
}
