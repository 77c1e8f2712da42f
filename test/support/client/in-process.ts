/** Runs the client's commands in this process, and keeps their output, their questions and their end. */
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Command } from 'commander';
import { addClientCommands } from '../../../src/client/client-commands.js';
import type { ApiConnection } from '../../../src/client/connection/connection.js';
import { HttpConnection } from '../../../src/client/connection/http-connection.js';
import { endOf } from '../../../src/client/end.js';

export interface InProcessOptions {
  /** The connection to a master. Absent: for commands that need none. */
  readonly connection?: ApiConnection;
  /** The answer of the person; absent: there is no person. */
  readonly says?: string;
  readonly input?: string;
  readonly environment?: NodeJS.ProcessEnv;
}

export interface InProcessRun {
  readonly code: number;
  readonly out: string;
  /** The lines on stderr, the message of the end last. */
  readonly err: readonly string[];
  readonly questions: readonly string[];
}

/** Runs `drover` with these words. */
export async function runInProcess(
  words: readonly string[],
  { connection, says, input = '', environment = {} }: InProcessOptions = {},
): Promise<InProcessRun> {
  const err: string[] = [];
  const questions: string[] = [];
  const stdout = new PassThrough();
  const program = new Command('drover').exitOverride().configureOutput({ outputError: () => undefined });
  addClientCommands(program, {
    connect: async () => {
      if (connection === undefined) throw new Error('the command has asked for a master');
      return connection;
    },
    terminal: async () => ({
      isInteractive: says !== undefined,
      say: (line) => void err.push(line),
      ask: async (question) => {
        questions.push(question);
        return says ?? '';
      },
    }),
    readInput: async () => input,
    environment,
    stdout,
  });
  const out = text(stdout);
  const end = await program.parseAsync(words, { from: 'user' }).then(
    () => ({ exitCode: 0, message: '' }),
    (error: unknown) => {
      const { exitCode, message } = endOf(error);
      if (message === undefined) throw error;
      return { exitCode, message };
    },
  );
  stdout.end();
  if (end.message !== '') err.push(end.message);
  return { code: end.exitCode, out: await out, err, questions };
}

/** A connection to the API at `url`, which has no `/api`. */
export function connectionTo(url: string, key: string): HttpConnection {
  return new HttpConnection(
    {
      name: 'prod',
      kind: 'context',
      url,
      key: { kind: 'text', key, from: 'the test' },
      trust: { kind: 'system' },
    },
    { version: '0.0.0-test' },
  );
}
