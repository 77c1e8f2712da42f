/** The client's commands over a connection that answers what a test says: questions, refusals, and the clock of ages. */
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Command } from 'commander';
import { expect, it } from 'vitest';
import { addClientCommands } from '../../../src/client/client-commands.js';
import { ClientError, EXIT } from '../../../src/client/client-error.js';
import type { ApiConnection } from '../../../src/client/connection/connection.js';

type Answers = Readonly<Record<string, readonly [status: number, body: unknown]>>;

interface Run {
  readonly out: string;
  readonly error: unknown;
  readonly asked: readonly string[];
  readonly questions: readonly string[];
}

async function run(
  line: string,
  answers: Answers,
  { says, date = new Date(0) }: { readonly says?: string; readonly date?: Date } = {},
): Promise<Run> {
  const asked: string[] = [];
  const questions: string[] = [];
  const connection: Pick<ApiConnection, 'name' | 'url' | 'request'> = {
    name: 'prod',
    url: 'https://master:7000',
    request: async (method, path) => {
      asked.push(`${method} ${path}`);
      const [status, body] = answers[`${method} ${path}`] ?? [404, { error: 'there is no such endpoint' }];
      return { status, body, headers: { date: date.toUTCString() } };
    },
  };
  const stdout = new PassThrough();
  const program = new Command().exitOverride().configureOutput({ outputError: () => undefined });
  addClientCommands(program, {
    connect: async () => connection as ApiConnection,
    terminal: async () => ({
      isInteractive: says !== undefined,
      say: () => undefined,
      ask: async (question) => {
        questions.push(question);
        return says ?? '';
      },
    }),
    stdout,
  });
  const error = await program.parseAsync(line.split(' '), { from: 'user' }).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  stdout.end();
  return { out: await text(stdout), error, asked, questions };
}

const DELETION: Answers = {
  'GET /ping': [200, { clusterName: 'games' }],
  'DELETE /instances/ab12cd': [200, { message: 'instance ab12cd is being removed', instanceId: 'ab12cd' }],
};

it('names the cluster and asks before it destroys', async () => {
  const yes = await run('instance delete ab12cd', DELETION, { says: 'y' });
  expect(yes.questions).toEqual([
    'Cluster games (prod, https://master:7000): instance ab12cd is deleted, with its directory unless it is static. Go on? [y/N] ',
  ]);
  expect(yes.out).toBe('instance ab12cd is being removed\n');
  const no = await run('delete instance ab12cd', DELETION, { says: '' });
  expect([no.error, no.asked]).toEqual([new ClientError(EXIT.failed, 'nothing was done'), ['GET /ping']]);
  const forced = await run('delete instance ab12cd -y', DELETION);
  expect([forced.error, forced.asked, forced.questions]).toEqual([
    undefined,
    ['DELETE /instances/ab12cd'],
    [],
  ]);
});

it('says that a master is older where a route is missing', async () => {
  const { error } = await run('config list', { 'GET /cluster/configurations': [200, []] });
  expect(error).toMatchObject({
    exitCode: EXIT.failed,
    message: expect.stringContaining('older than this client'),
  });
  const nodes = await run('cluster nodes', { 'GET /cluster/nodes?details=true': [200, [{ nodeId: 'n1' }]] });
  expect(nodes.error).toMatchObject({ message: expect.stringContaining('older than this client') });
});

it('tells ages by the clock of the master', async () => {
  const session = {
    id: 's1',
    key: 'k',
    scope: 'READ',
    endsAt: 7_200_000,
    lastUsedAt: 3_540_000,
    lastUsedFrom: '::1',
    createdAt: 0,
  };
  const { out } = await run(
    'session list',
    { 'GET /sessions': [200, [session]] },
    { date: new Date(3_600_000) },
  );
  expect(out.split('\n')[1]).toBe('s1  k    READ   in 1 h  60 s ago   ::1   1 h');
});

it('sends the part of a log that was asked for', async () => {
  const { asked } = await run('instance logs ab12cd --since 30d --until 5 -t', {});
  expect(asked).toEqual(['GET /instances/ab12cd/logs?lines=1000&since=30d&until=5&timestamps=true']);
});
