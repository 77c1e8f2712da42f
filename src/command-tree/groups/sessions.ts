/** `session ...`: the sessions of all keys. A session is made over the API only: a terminal needs none. */

import type { ListedSession } from '../../api/routes/session-routes.js';
import { durationText } from '../../model/words.js';
import { describe, messageText, noInput, tableOf } from '../command.js';

export const SESSION_COMMANDS = {
  'session list': describe({
    about: 'all sessions, the oldest first',
    input: noInput,
    text: (listed: readonly ListedSession[], view) =>
      tableOf(
        view,
        ['ID', 'KEY', 'SCOPE', 'ENDS', 'LAST USED', 'FROM', 'AGE'],
        listed.map(({ id, key, scope, endsAt, lastUsedAt, lastUsedFrom, createdAt }) => [
          id,
          key,
          scope,
          `in ${durationText(endsAt - view.now)}`,
          `${durationText(view.now - lastUsedAt)} ago`,
          lastUsedFrom,
          durationText(view.now - createdAt),
        ]),
        'there are no sessions',
      ),
    names: (listed) => listed.map(({ id }) => id),
  }),
  'session revoke': describe({
    usage: '<session-id>',
    about: 'end a session at once; its open sockets are closed',
    input: (id: string) => ({ id }),
    text: (ended: { readonly message: string; readonly id: string }) => messageText(ended),
    names: ({ id }) => [id],
    destroys: ({ id }) => `session ${id} is ended`,
  }),
};
