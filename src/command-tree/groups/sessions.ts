/** `session ...`: the sessions of all keys. A session is made over the API only: a terminal needs none. */

import type { ListedSession } from '../../api/routes/session-routes.js';
import { durationText } from '../../model/words.js';
import { describe, messageText, noInput, type Said } from '../command.js';
import { type Columns, listOf } from '../list.js';

const COLUMNS: Columns<ListedSession> = {
  ID: ({ id }) => id,
  KEY: ({ key }) => key,
  SCOPE: ({ scope }) => scope,
  ENDS: ({ endsAt }, now) => `in ${durationText(endsAt - now)}`,
  'LAST USED': ({ lastUsedAt }, now) => `${durationText(now - lastUsedAt)} ago`,
  FROM: ({ lastUsedFrom }) => lastUsedFrom,
  AGE: ({ createdAt }, now) => durationText(now - createdAt),
};

export const SESSION_COMMANDS = {
  'session list': describe({
    about: 'all sessions, the oldest first',
    input: noInput,
    text: (listed: readonly ListedSession[], view) => listOf(view, COLUMNS, listed, 'there are no sessions'),
    names: (listed) => listed.map(({ id }) => id),
  }),
  'session revoke': describe({
    usage: '<session-id>',
    about: 'end a session at once; its open sockets are closed',
    input: (id: string) => ({ id }),
    text: (ended: Said<'id'>) => messageText(ended),
    names: ({ id }) => [id],
    destroys: ({ id }) => `session ${id} is ended`,
  }),
};
