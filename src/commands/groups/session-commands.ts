/** `session ...`: the sessions of all keys. A session is made over the API only: a terminal needs none. */
import type { Command } from 'commander';
import { durationText } from '../../model/words.js';
import { endSession, listSessions } from '../../operations/sessions.js';
import { addCommand, type CommandContext, type SharedOptions, show, tableOf } from '../context.js';

export function addSessionCommands(program: Command, context: CommandContext): void {
  const { dependencies } = context;
  const group = program.command('session').description('sessions of browsers and people, made with a key');
  addCommand(group, 'list', 'all sessions, the oldest first').action((options: SharedOptions) =>
    list(context, options),
  );
  addCommand(group, 'revoke <session-id>', 'end a session at once; its open sockets are closed').action(
    async (id: string, options: SharedOptions) => {
      const ended = await endSession(dependencies, null, id);
      await show(
        context,
        options,
        () => ended,
        () => ended.message,
      );
    },
  );
}

async function list(context: CommandContext, options: SharedOptions): Promise<void> {
  const listed = listSessions(context.dependencies, null);
  const now = context.dependencies.clock.now();
  await show(
    context,
    options,
    () => listed,
    () =>
      tableOf(
        context,
        ['ID', 'KEY', 'SCOPE', 'ENDS', 'LAST USED', 'FROM', 'AGE'],
        listed.map(({ id, key, scope, endsAt, lastUsedAt, lastUsedFrom, createdAt }) => [
          id,
          key,
          scope,
          `in ${durationText(endsAt - now)}`,
          `${durationText(now - lastUsedAt)} ago`,
          lastUsedFrom,
          durationText(now - createdAt),
        ]),
        'there are no sessions',
      ),
  );
}
