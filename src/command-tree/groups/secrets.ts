/** `secret list` and `secret remove`. Only the client has `secret set`, which reads a value here. */
import type { ShownSecret } from '../../model/fields/secret.js';
import { durationText } from '../../model/plain/duration-text.js';
import { describe, messageText, noInput, type Said } from '../command.js';
import { type Columns, listOf } from '../list.js';

const COLUMNS: Columns<ShownSecret> = {
  NAME: ({ name }) => name,
  SOURCE: ({ source }) => source,
  AGE: ({ changedAt }, now) => durationText(now - changedAt),
  BY: ({ changedBy }) => changedBy,
  'USED BY': ({ users }) => users.join(',') || 'nothing',
};

export const SECRET_COMMANDS = {
  'secret list': describe({
    about: 'the secrets of programs, without values: their age, who set them, who uses them',
    input: noInput,
    text: (listed: readonly ShownSecret[], view) => listOf(view, COLUMNS, listed, 'there are no secrets'),
    names: (listed) => listed.map(({ name }) => name),
  }),
  'secret remove': describe({
    usage: '<name>',
    about: 'remove a secret that no configuration refers to',
    input: (name: string) => ({ name }),
    text: (removed: Said<'name'>) => messageText(removed),
    names: ({ name }) => [name],
    destroys: ({ name }) => `secret ${name} is removed`,
  }),
};
