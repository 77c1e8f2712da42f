/** `key ...`: the keys of the API. A token is printed once, when it is made, and nowhere else. */
import { Argument, type Command } from 'commander';
import { type KeyScope, keyScopeSchema } from '../../model/api-key.js';
import { DroverError } from '../../model/errors.js';
import { durationText, quoteText } from '../../model/words.js';
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
      const { token } = await dependencies.keyWrites.create(label, scope);
      await show(
        context,
        options,
        () => ({ label, scope, token }),
        () => `${token}\nThis is the token of key ${label} (${scope}). It is not shown again: keep it safe.`,
      );
    });
  addCommand(group, 'list', 'all keys, tokens masked').action((options: SharedOptions) =>
    list(context, options),
  );
  addCommand(group, 'delete <label>', 'revoke a key at once; its open sockets are closed').action(
    async (label: string, options: SharedOptions) => {
      requireKey(context, label);
      await dependencies.keyWrites.remove(label);
      const message = `key ${label} is deleted`;
      await show(
        context,
        options,
        () => ({ message, label }),
        () => message,
      );
    },
  );
}

async function list(context: CommandContext, options: SharedOptions): Promise<void> {
  const { keys, clock } = context.dependencies;
  // Never the whole record: it holds the hash.
  const listed = [...keys.entries()]
    .map(([, { value }]) => ({
      label: value.label,
      scope: value.scope,
      mask: value.mask,
      createdAt: value.createdAt,
    }))
    .sort((a, b) => (a.label < b.label ? -1 : 1));
  const now = clock.now();
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
