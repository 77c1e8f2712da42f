/** `key ...`: the keys of the API. A token is printed only when its key is made. */
import { Argument, type Command } from 'commander';
import { type KeyScope, keyScopeSchema } from '../../model/api-key.js';
import { DroverError } from '../../model/errors.js';
import { durationText, quoteText } from '../../model/words.js';
import { createKey, deleteKey, listKeys } from '../../operations/api-keys.js';
import { addCommand, type CommandContext, type SharedOptions, show, tableOf } from '../context.js';
import { suggest } from '../find.js';

export function addKeyCommands(program: Command, context: CommandContext): void {
  const { dependencies } = context;
  const group = program.command('key').description('keys of the API');
  addCommand(group, 'create', 'make a key; its token is shown this once')
    .addArgument(new Argument('<label>'))
    .addArgument(new Argument('<scope>').choices(keyScopeSchema.options))
    .usage('[options] <label> <ALL|PUBLIC>')
    .action(async (label: string, scope: KeyScope, options: SharedOptions) => {
      const created = await createKey(dependencies, { label, scope });
      await show(
        context,
        options,
        () => created,
        () =>
          `${created.token}\nThis is the token of key ${label} (${scope}). It is not shown again: keep it safe.`,
      );
    });
  addCommand(group, 'list', 'all keys, tokens masked').action((options: SharedOptions) =>
    list(context, options),
  );
  addCommand(group, 'delete <label>', 'revoke a key at once; its open sockets are closed').action(
    async (label: string, options: SharedOptions) => {
      requireKey(context, label);
      const deleted = await deleteKey(dependencies, label);
      await show(
        context,
        options,
        () => deleted,
        () => deleted.message,
      );
    },
  );
}

async function list(context: CommandContext, options: SharedOptions): Promise<void> {
  const listed = listKeys(context.dependencies);
  const now = context.dependencies.clock.now();
  await show(
    context,
    options,
    () => listed,
    () =>
      tableOf(
        context,
        ['LABEL', 'SCOPE', 'TOKEN', 'AGE'],
        listed.map(({ label, scope, mask, createdAt }) => [
          label,
          scope,
          mask,
          durationText(now - createdAt),
        ]),
        'there are no keys',
      ),
  );
}

function requireKey({ dependencies }: CommandContext, label: string): void {
  if (dependencies.keys.get(label) !== undefined) return;
  const labels = [...dependencies.keys.entries()].map(([known]) => known);
  throw new DroverError(
    'DRV_KEY_UNKNOWN',
    `there is no key ${quoteText(label)}${suggest(label, labels, 'key list')}`,
  );
}
