/** `/extensions`: the extensions of the serving node, and the commands that they add. */

import { z } from 'zod';
import { extensionStatusSchema } from '../../extensions/extension.js';
import { DroverError } from '../../model/errors.js';
import { quoteText } from '../../model/words.js';
import { defineRoute, jsonAnswer, type Route } from '../http/route.js';
import { sessionOf } from './command-routes.js';

const extensionCommand = z.object({
  name: z.string(),
  usage: z.string().describe('the arguments of the command, for the help; may be empty'),
  description: z.string(),
});

const commandParams = z.object({ command: z.string().describe('name of the command') });
const commandBody = z.object({
  words: z
    .array(z.string())
    .default([])
    .describe('the arguments of the command, passed on unchanged: nothing is split or unquoted'),
});
const commandAnswer = z.object({
  output: z
    .string()
    .describe('the output of the command, 4 MiB at most; after a failure the last line is `error: ...`'),
  isOk: z.boolean().describe('false: the command failed'),
});

export const extensionRoutes: readonly Route[] = [
  defineRoute('GET', '/extensions', {
    scope: 'READ',
    summary: 'All extensions of the serving node, with what they add and whether they failed.',
    answers: jsonAnswer('extensions', z.array(extensionStatusSchema)),
    handle: (_call, { extensions }) => extensions.list(),
  }),
  defineRoute('GET', '/extensions/commands', {
    scope: 'READ',
    summary: 'The commands that extensions of the serving node add.',
    answers: jsonAnswer('commands', z.array(extensionCommand)),
    handle: (_call, { extensions }) =>
      extensions.commands().map(({ name, usage = '', description }) => ({ name, usage, description })),
  }),
  defineRoute('POST', '/extensions/commands/:command', {
    scope: 'ALL',
    summary: 'Runs a command of an extension on the serving node, 55 s at most.',
    errors: ['DRV_COMMAND_UNKNOWN'],
    params: commandParams,
    body: commandBody,
    answers: jsonAnswer('the command ran, whether or not it succeeded', commandAnswer),
    handle: async ({ params: { command }, body: { words }, request }, { extensions, commands }, reply) => {
      if (!extensions.commands().some(({ name }) => name === command))
        throw new DroverError(
          'DRV_COMMAND_UNKNOWN',
          `no extension adds a command ${quoteText(command)}: "help" shows all`,
        );
      const parts: string[] = [];
      const { isOk } = await commands.run([command, ...words], sessionOf(request, reply, parts));
      return { output: parts.join(''), isOk };
    },
  }),
];
