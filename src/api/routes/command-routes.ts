/** `POST /commands/execute`: runs one line of the command tree and answers with its output as one text. */
import { z } from 'zod';
import { actorLabel } from '../access/auth.js';
import type { CommandRunner } from '../http/command-runner.js';
import { defineRoute, nothing, type Route } from '../http/route.js';

const commandBody = z.object({
  command: z.string().describe('one command as it would be typed, such as `instance list -o json`'),
});

const commandAnswer = z.object({
  command: z.string().describe('the command as it was sent'),
  output: z
    .string()
    .describe(
      'everything that it printed, without colours, 4 MiB at most; what went wrong stands here as `error: ...`, or ' +
        'as `{"error": ...}` with `-o json`',
    ),
});

export interface CommandNeeds {
  readonly commands: CommandRunner;
}

export function commandRoutes({ commands }: CommandNeeds): readonly Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/commands/execute',
      scope: 'ALL',
      summary: 'Runs a command of the console on the serving node.',
      params: nothing,
      query: nothing,
      body: commandBody,
      answers: { 200: { description: 'it ran, whether or not it succeeded', schema: commandAnswer } },
      handle: async ({ body: { command }, request }, reply) => {
        const { actor } = request;
        const leaving = new AbortController();
        reply.raw.once('close', () => leaving.abort());
        const parts: string[] = [];
        await commands.run(command, {
          actor: actor === null ? '' : actorLabel(actor),
          address: request.ip,
          signal: leaving.signal,
          write: (text) => parts.push(text),
        });
        return { command, output: parts.join('') };
      },
    }),
  ];
}
