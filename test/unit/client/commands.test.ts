/** The client's commands over a connection that answers what a test says: questions, refusals, and the clock of ages. */
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { addClientCommands } from '../../../src/client/client-commands.js';
import type { ApiConnection } from '../../../src/client/connection/connection.js';
import { endOf } from '../../../src/client/end.js';
import { ClientError, EXIT } from '../../../src/command-tree/runs/client-error.js';

type Answers = Readonly<Record<string, readonly [status: number, body: unknown]>>;

interface Run {
  readonly out: string;
  readonly error: unknown;
  readonly asked: readonly string[];
  readonly questions: readonly string[];
  readonly bodies: readonly unknown[];
}

interface RunOptions {
  readonly says?: string;
  readonly date?: Date;
  readonly mayAskPerson?: boolean;
}

async function run(
  line: string,
  answers: Answers,
  { says, date = new Date(0), mayAskPerson = false }: RunOptions = {},
): Promise<Run> {
  const asked: string[] = [];
  const bodies: unknown[] = [];
  const questions: string[] = [];
  const connection: Pick<ApiConnection, 'name' | 'url' | 'mayAskPerson' | 'request'> = {
    name: 'prod',
    mayAskPerson,
    url: 'https://master:7000',
    request: async (method, path, sent) => {
      if (sent !== undefined) bodies.push(sent);
      asked.push(`${method} ${path}`);
      const [status, body] = answers[`${method} ${path}`] ?? [
        404,
        { error: 'there is no such endpoint', code: 'DRV_ENDPOINT_UNKNOWN' },
      ];
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
    readInput: async () => '',
    environment: {},
    stdout,
  });
  const error = await program.parseAsync(line.split(' '), { from: 'user' }).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  stdout.end();
  return { out: await text(stdout), error, asked, questions, bodies };
}

const DELETION: Answers = {
  'GET /ping': [200, { clusterName: 'games' }],
  'DELETE /instances/ab12cd': [200, { message: 'instance ab12cd is being removed', instanceId: 'ab12cd' }],
};

it('takes its common options before the command, too', async () => {
  const answers: Answers = { 'GET /templates': [200, []], 'GET /configurations': [200, []] };
  expect((await run('-o json template list', answers)).out).toBe('[]\n');
  expect((await run('-o json template list -o json', answers)).out).toBe('[]\n');
  const json = '{\n  "message": "removed",\n  "instanceId": "ab12cd"\n}\n';
  const removal: Answers = {
    'DELETE /instances/ab12cd': [200, { message: 'removed', instanceId: 'ab12cd' }],
  };
  for (const line of [
    'delete instance ab12cd -y -o json',
    'delete -o json -y instance ab12cd',
    '-o json delete instance ab12cd -y',
  ])
    expect((await run(line, removal)).out).toBe(json);
  const wrong = async (line: string): Promise<unknown> => (await run(line, answers)).error;
  expect(await wrong('-o json template list -o yaml')).toMatchObject({ exitCode: EXIT.usage });
  expect(await wrong('-o xml template list')).toMatchObject({ exitCode: EXIT.usage });
  expect(await wrong('--context prod completion bash')).toMatchObject({
    message: 'the option --context has no effect on "completion"',
  });
});

describe('a command of an extension', () => {
  const LISTED = [{ name: 'greet', usage: '<player>', description: 'says hello' }];
  const answers = (output: string, isOk = true): Answers => ({
    'GET /extensions/commands': [200, LISTED],
    'POST /extensions/commands/greet': [200, { output, isOk }],
  });

  it('runs on the master with its words as they are, and stands in the help', async () => {
    const greeted = await run('greet --loud bob -o json', answers('hello\n'));
    expect([greeted.out, greeted.error, greeted.bodies]).toEqual([
      'hello\n',
      undefined,
      [{ words: ['--loud', 'bob', '-o', 'json'] }],
    ]);
    expect((await run('help', answers(''))).out).toMatch(/^greet <player> +says hello$/m);
  });

  it('that fails prints what it printed before, and its error', async () => {
    const failed = await run('greet bob', answers('one\nerror: bob is away\n', false));
    expect([failed.out, failed.error]).toEqual(['one\n', new ClientError(EXIT.failed, 'bob is away')]);
  });

  it('stands in no help where somebody might be asked for a password for it', async () => {
    const { asked, error } = await run('help', answers(''), { mayAskPerson: true });
    expect([asked, error]).toEqual([[], undefined]);
  });

  it('that nobody knows is a typing error, also when the master is older or away', async () => {
    for (const known of [answers(''), {}]) {
      const { error } = await run('instnace list', known);
      expect(endOf(error)).toEqual({
        exitCode: EXIT.usage,
        message: "unknown command 'instnace'. Did you mean instance?",
      });
    }
    expect((await run('help', {})).out).not.toContain('greet');
  });
});

it('refuses a time to wait that no timer can wait', async () => {
  const { error, asked } = await run('wait config lobby --timeout 30d', {});
  expect([endOf(error).exitCode, endOf(error).message, asked]).toEqual([
    EXIT.usage,
    expect.stringContaining('24d at most'),
    [],
  ]);
});

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

describe('an action on several instances', () => {
  const instance = (id: string, configurationName: string, state = 'ONLINE') => ({
    id,
    configurationName,
    state,
    wrapperNodeId: 'n1',
    createdAt: 0,
    players: null,
  });
  const answers: Answers = {
    'GET /ping': [200, { clusterName: 'games' }],
    'GET /instances': [
      200,
      [instance('aaaaaa', 'lobby'), instance('bbbbbb', 'arena'), instance('cccccc', 'redis')],
    ],
    'GET /configurations': [
      200,
      [
        { name: 'lobby', instanceGroups: ['front'] },
        { name: 'arena', instanceGroups: ['front', 'games'] },
        { name: 'redis', instanceGroups: [] },
      ],
    ],
    ...Object.fromEntries(
      ['aaaaaa', 'bbbbbb', 'cccccc'].flatMap((id) => [
        [`GET /instances/${id}`, [200, {}]],
        [
          `PATCH /instances/${id}/lifecycle?target=stop`,
          [200, { message: `stop of ${id}`, instanceId: id, target: 'stop' }],
        ],
      ]),
    ),
  };

  it('names the cluster and asks once, with all that is meant', async () => {
    const { questions, out, error } = await run('instance stop --group front', answers, { says: 'yes' });
    expect(questions).toEqual([
      'Cluster games (prod, https://master:7000): 2 instances are stopped, until started again. Go on? [y/N] ',
    ]);
    expect([out, error]).toEqual(['stop of bbbbbb\nstop of aaaaaa\n', undefined]);
  });

  it('does nothing without a yes, or where nobody can be asked', async () => {
    for (const says of ['', 'n']) {
      const { error, asked } = await run('instance stop aaaaaa bbbbbb', answers, { says });
      expect(error).toEqual(new ClientError(EXIT.failed, 'nothing was done'));
      expect(asked.some((one) => one.startsWith('PATCH'))).toBe(false);
    }
    const { error } = await run('instance stop --all', answers);
    expect(endOf(error)).toMatchObject({
      exitCode: EXIT.usage,
      message: expect.stringContaining('give --yes'),
    });
  });

  it('goes on after a refusal, names it, and ends with its exit code', async () => {
    const refused: Answers = {
      ...answers,
      'PATCH /instances/bbbbbb/lifecycle?target=stop': [409, { error: 'it is busy' }],
    };
    const { out, error } = await run('instance stop aaaaaa bbbbbb cccccc --yes', refused);
    expect(out).toBe('stop of aaaaaa\ninstance bbbbbb: it is busy\nstop of cccccc\n');
    expect(error).toEqual(new ClientError(EXIT.conflict, '1 of 3 instances was not stopped'));
    const json = await run('instance stop aaaaaa bbbbbb -y -o json', refused);
    expect(JSON.parse(json.out)).toEqual([
      { message: 'stop of aaaaaa', instanceId: 'aaaaaa', target: 'stop', error: null },
      { instanceId: 'bbbbbb', error: 'it is busy' },
    ]);
    expect((await run('instance stop aaaaaa bbbbbb -y -o name', refused)).out).toBe('aaaaaa\n');
  });

  it('ends with 3 where nothing matches', async () => {
    for (const line of [
      'instance stop --configuration nobody --yes',
      'delete instance aaaaaa zzzzzz --yes',
    ]) {
      const { error, asked } = await run(line, answers);
      expect(endOf(error).exitCode).toBe(EXIT.notFound);
      expect(asked).toEqual(['GET /instances']);
    }
  });
});

it('says that a master is older where a route is missing', async () => {
  const { error } = await run('config list', { 'GET /cluster/configurations': [200, []] });
  expect(error).toMatchObject({
    exitCode: EXIT.failed,
    message: expect.stringContaining('older than this client'),
  });
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

it('takes --lines of a log as --tail, which wins', async () => {
  const answers = { 'GET /instances/ab12cd': [200, { id: 'ab12cd' }] } as const;
  const askedFor = async (line: string) => (await run(line, answers)).asked.at(-1);
  const seven = await askedFor('logs ab12cd --tail 7');
  expect(seven).toMatch(/^GET \/instances\/ab12cd\/logs\?lines=7&/);
  expect(await askedFor('logs ab12cd --lines 7')).toBe(seven);
  expect(await askedFor('logs ab12cd --lines 5 -n 7')).toBe(seven);
});
