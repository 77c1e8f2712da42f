/** The client as a person sees it on a terminal of 80 columns: widths, colours, names in the place of ids, questions. */
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { addClientCommands } from '../../../src/client/client-commands.js';
import type { ApiConnection } from '../../../src/client/connection/connection.js';
import { endOf } from '../../../src/client/end.js';

interface Run {
  readonly out: string;
  readonly end: string | undefined;
  readonly asked: readonly string[];
  readonly questions: readonly string[];
}

const WHY = {
  verdict:
    'payments is in its 28th crash in a row, and waits for the next start before anything else happens.',
  next: 'restart 29 in 52 s; 60 s of being up end that count',
  advice: null,
  notes: [],
  files: [],
  nodes: [],
  portRange: null,
  portHolders: [],
};
const instance = (id: string, fields: object = {}) => ({
  id,
  configurationName: id.startsWith('pay') ? 'payments' : 'lobby',
  state: 'ONLINE',
  desired: 'run',
  reason: null,
  wrapperNodeId: 'ams-1',
  hostAddress: '10.0.0.1',
  allocatedPort: 25565,
  allocatedRamMB: 512,
  allocatedCpu: 100,
  processPid: 4711,
  restarts: 0,
  createdAt: id.charCodeAt(3),
  players: null,
  message: null,
  ...fields,
});
const CRASHED = { state: 'OFFLINE', reason: 'exited', message: 'exited with code 2, restart 20 in 52 s' };
const INSTANCES = [
  instance('lob1aa'),
  instance('lob2bb', { wrapperNodeId: 'fra-1' }),
  instance('pay1cc', CRASHED),
];
const unknown = [404, { error: 'there is no such thing', code: 'DRV_INSTANCE_UNKNOWN' }] as const;

const ANSWERS: Readonly<Record<string, readonly [status: number, body: unknown]>> = {
  'GET /ping': [200, { clusterName: 'games' }],
  'GET /instances': [200, INSTANCES],
  'GET /instances/lob1aa': [200, INSTANCES[0]],
  'GET /instances/lobby': unknown,
  'GET /configurations/lobby': [200, { name: 'lobby' }],
  'GET /configurations/lobby/why': [
    200,
    { ...WHY, minimum: 2, maximum: null, actual: 2, online: 2, nextCreationInMs: null, instances: [] },
  ],
  'POST /configurations/lobby/restart': [
    200,
    {
      configurationName: 'lobby',
      state: 'rolling',
      counts: { total: 2, good: 0, updated: 0, outdated: 2, waiting: 0 },
    },
  ],
  'PATCH /instances/lob1aa/lifecycle?target=stop': [200, { message: 'stopped', instanceId: 'lob1aa' }],
  'PATCH /instances/lob2bb/lifecycle?target=stop': [200, { message: 'stopped', instanceId: 'lob2bb' }],
  'GET /instances/lob2bb': [200, INSTANCES[1]],
  'GET /cluster/nodes?details=true': [
    200,
    [
      { nodeId: 'ams-1', instances: 2 },
      { nodeId: 'fra-1', instances: 1 },
    ],
  ],
  'PUT /cluster/nodes/ams-1/drain': [200, { nodeId: 'ams-1', drain: null }],
  'PUT /cluster/nodes/fra-1/drain': [200, { nodeId: 'fra-1', drain: null }],
};

async function run(line: string, environment: NodeJS.ProcessEnv = {}, says = 'y'): Promise<Run> {
  const asked: string[] = [];
  const questions: string[] = [];
  const connection: Pick<ApiConnection, 'name' | 'url' | 'mayAskPerson' | 'request'> = {
    name: 'prod',
    mayAskPerson: false,
    url: 'https://master:7000',
    request: async (method, path) => {
      asked.push(`${method} ${path}`);
      const [status, body] = ANSWERS[`${method} ${path}`] ?? [
        404,
        { error: 'unknown', code: 'DRV_X_UNKNOWN' },
      ];
      return { status, body, headers: { date: new Date(500_000).toUTCString() } };
    },
  };
  const stdout = Object.assign(new PassThrough(), { isTTY: true as const, columns: 80 });
  const program = new Command('drover').exitOverride().configureOutput({ outputError: () => undefined });
  addClientCommands(program, {
    connect: async () => connection as ApiConnection,
    terminal: async () => ({
      isInteractive: true,
      say: () => undefined,
      ask: async (question) => {
        questions.push(question);
        return says;
      },
    }),
    readInput: async () => '',
    environment: { TERM: 'xterm', ...environment },
    stdout,
  });
  const error = await program.parseAsync(line.split(' '), { from: 'user' }).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  stdout.end();
  const end = error === undefined ? undefined : endOf(error).message;
  return { out: await text(stdout), end, asked, questions };
}

const plain = (out: string): string => out.replace(/\x1b\[\d+m/g, '');
const idsOf = ({ out }: Run): string[] => plain(out).match(/^(?:lob|pay)\w+/gm) ?? [];

describe('a list', () => {
  it('fits 80 columns, cuts no message, and shows first what is not well', async () => {
    const listed = await run('instance list');
    const lines = plain(listed.out).split('\n');
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(lines[0]).toMatch(/^ID +CONFIGURATION +STATE +NODE/);
    expect(lines.join(' ').replace(/\s+/g, ' ')).toContain('exited with code 2, restart 20 in 52 s');
    expect(idsOf(listed)).toEqual(['pay1cc', 'lob1aa', 'lob2bb']);
  });

  it('is in the order of the master for programs', async () => {
    const ids = JSON.parse((await run('instance list -o json')).out).map(({ id }: { id: string }) => id);
    expect(ids).toEqual(['lob1aa', 'lob2bb', 'pay1cc']);
  });

  it.each([
    ['instance list --state OFFLINE', ['pay1cc']],
    ['instance list --node fra-1', ['lob2bb']],
    ['ps --configuration lobby', ['lob1aa', 'lob2bb']],
    ['ps --sort node', ['lob1aa', 'pay1cc', 'lob2bb']],
    ['get instances lobby --sort age', ['lob2bb', 'lob1aa']],
  ])('takes filters and orders: %s', async (line, ids) => {
    expect(idsOf(await run(line))).toEqual(ids);
  });
});

it.each([
  ['', {}, true],
  [' --color never', {}, false],
  ['', { NO_COLOR: '1' }, false],
  ['', { TERM: 'dumb' }, false],
  [' --color always', { NO_COLOR: '1' }, true],
])('colours states on a terminal: %s %o', async (option, environment, isColoured) => {
  const { out } = await run(`instance list${option}`, environment);
  expect(out.includes('\x1b[32mONLINE\x1b[0m')).toBe(isColoured);
  expect(out).not.toMatch(/[\ufdd0-\ufdef]/);
});

it('breaks sentences between words', async () => {
  const { out } = await run('describe lobby');
  const lines = plain(out).split('\n');
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  expect(lines.join(' ')).toContain(
    'in its 28th crash in a row, and waits for the next start before anything',
  );
  expect(out).not.toContain('{');
});

describe('a bare name', () => {
  it.each([
    ['restart lobby', 'POST /configurations/lobby/restart', 0],
    ['stop lobby', 'PATCH /instances/lob2bb/lifecycle?target=stop', 1],
    ['stop lob1aa', 'PATCH /instances/lob1aa/lifecycle?target=stop', 0],
  ])('%s', async (line, request, questions) => {
    const ran = await run(line);
    expect(ran.asked).toContain(request);
    expect([ran.end, ran.questions.length]).toEqual([undefined, questions]);
  });
});

it.each([
  ['cluster drain ams-1', 1],
  ['cluster drain fra-1', 0],
  ['cluster drain ams-1 --yes', 0],
])('asks before a node with several instances is emptied: %s', async (line, questions) => {
  const ran = await run(line);
  expect([ran.end, ran.questions.length]).toEqual([undefined, questions]);
  expect(ran.asked.at(-1)).toMatch(/^PUT .*\/drain$/);
});

it('does nothing without a yes', async () => {
  const { end, asked } = await run('cluster drain ams-1', {}, 'n');
  expect([end, asked.some((request) => request.startsWith('PUT'))]).toEqual(['nothing was done', false]);
});

describe('an unknown word', () => {
  it.each([
    ['get pods', "unknown command 'get pods'. Did you mean instance list?"],
    ['get all', "unknown command 'get all'. Did you mean cluster status?"],
    ['instance get lob1aa', "unknown command 'instance get'. Did you mean instance info?"],
    ['config get lobby', "unknown command 'config get'. Did you mean config show?"],
    ['instance lst', "unknown command 'instance lst'. Did you mean instance list?"],
    ['drain ams-1', "unknown command 'drain'. Did you mean cluster drain?"],
    ['why lobby', "unknown command 'why'. Did you mean instance why or config why?"],
    ['runs', "unknown command 'runs'. Did you mean instance list?"],
    ['job list', "unknown command 'job'. Did you mean config list?"],
    ['undo lobby', "unknown command 'undo'. Did you mean config rollback?"],
    ['xyzzy', 'unknown command \'xyzzy\': "help" lists all'],
  ])('names the nearest in meaning: %s', async (line, message) => {
    expect((await run(line)).end).toBe(message);
  });
});
