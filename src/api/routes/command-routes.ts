/**
 * `/commands`: runs a line of the command tree and answers with its output as one text, lists the commands, and
 * completes a line that is being typed.
 */

import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { accessOf } from '../gate/auth.js';
import type { CommandSession } from '../http/command-runner.js';
import { defineRoute, jsonAnswer, type Route } from '../http/route.js';

const commandBody = z.object({
  command: z.string().describe('one command as it would be typed, such as `instance list -o json`'),
});

const commandAnswer = z.object({
  command: z.string().describe('the command as it was sent'),
  output: z
    .string()
    .describe(
      'the output of the command, without colours, 4 MiB at most; a failure is a line `error: ...`, or ' +
        '`{"error": ...}` with `-o json`',
    ),
});
export type CommandOutput = z.output<typeof commandAnswer>;

const commandList = z.array(
  z.object({
    path: z.string().describe('the words of the command, such as `instance create`'),
    usage: z.string().describe('the words with the arguments'),
    about: z.string(),
    options: z.array(z.object({ flags: z.string(), about: z.string() })),
    destroys: z.boolean().describe('true: the command may destroy something, so ask a person first'),
  }),
);

const completion = z.object({
  word: z.string().describe('the last word of the line'),
  candidates: z
    .array(z.string())
    .describe('the words that may replace it, 50 at most; a single candidate ends with a space'),
});
export type Candidates = z.output<typeof completion>;

export const commandRoutes: readonly Route[] = [
  defineRoute('GET', '/commands', {
    scope: 'ALL',
    summary: 'All commands of the console, in the order of its help.',
    answers: jsonAnswer('commands', commandList),
    handle: (_call, { commands }) => commands.list(),
  }),
  defineRoute('GET', '/commands/completion', {
    scope: 'ALL',
    summary: 'Completes a line that is being typed for the console.',
    query: z.object({ line: z.string().describe('the line up to the cursor') }),
    answers: jsonAnswer('candidates', completion),
    handle: async ({ query }, { commands }) => {
      const [candidates, word] = await commands.complete(query.line);
      return { word, candidates };
    },
  }),
  defineRoute('POST', '/commands/execute', {
    scope: 'ALL',
    summary: 'Runs a command of the console on the serving node.',
    body: commandBody,
    answers: jsonAnswer('the command ran, whether or not it succeeded', commandAnswer),
    handle: async ({ body: { command }, request }, { commands }, reply) => {
      const parts: string[] = [];
      await commands.run(command, sessionOf(request, reply, parts));
      return { command, output: parts.join('') };
    },
  }),
];

/** The session of a command: its output is gathered in `parts`. It ends when the caller goes away. */
export function sessionOf(request: FastifyRequest, reply: FastifyReply, parts: string[]): CommandSession {
  const access = accessOf(request);
  if (access === undefined) throw new Error('the gate lets in only callers with a key');
  const leaving = new AbortController();
  reply.raw.once('close', () => leaving.abort());
  return { access, address: request.ip, signal: leaving.signal, write: (text) => parts.push(text) };
}
