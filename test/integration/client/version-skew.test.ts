/** The client with masters of the minor versions before and after its own: what works, and what it says that is missing. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addClientCommands } from '../../../src/client/client-commands.js';
import { HttpConnection } from '../../../src/client/connection/http-connection.js';
import { testConnection } from '../../../src/client/contexts/context-test.js';
import { endOf } from '../../../src/client/end.js';
import { EXIT } from '../../../src/command-tree/runs/client-error.js';
import { listening } from '../../support/client/tls-servers.js';

/** What every master since the first one answers, without any field that came later. */
const INSTANCE = {
  id: 'ab12cd',
  configurationName: 'lobby',
  state: 'ONLINE',
  wrapperNodeId: 'n1',
  hostAddress: '10.0.0.5',
  allocatedPort: 25_565,
  allocatedRamMB: 512,
  allocatedCpu: 100,
  runtime: 'screen',
  processPid: 77,
  lastHeartbeat: 0,
};
const NO_TEMPLATES = { allOf: [], allInGroups: [], oneOf: [], oneInGroups: [] };
const LOBBY = { name: 'lobby', command: './start', templateInstallationConfig: NO_TEMPLATES };
const CONTRACT: Readonly<Record<string, unknown>> = {
  'GET /api/ping': { status: 'ok', nodeId: 'n1', clusterName: 'games' },
  'GET /api/instances': [INSTANCE],
  'GET /api/instances/ab12cd': INSTANCE,
  'GET /api/instances/ab12cd/logs': { lines: ['one', 'two'], totalLines: 2, instanceId: 'ab12cd' },
  'PATCH /api/instances/ab12cd/lifecycle': {
    message: 'stop requested',
    instanceId: 'ab12cd',
    target: 'stop',
  },
  'DELETE /api/instances/ab12cd': { message: 'removed', instanceId: 'ab12cd' },
  'GET /api/configurations': [LOBBY],
  'GET /api/configurations/lobby': LOBBY,
  'POST /api/instances': INSTANCE,
  'GET /api/templates': [
    { group: 'world', templates: [{ name: 'a', group: 'world', storage: 'local', priority: 0 }] },
  ],
};

let server: Server;
let answers: Readonly<Record<string, unknown>>;
let url: string;
beforeEach(async () => {
  answers = CONTRACT;
  server = createServer((request, response) => {
    const answer = answers[`${request.method} ${request.url?.split('?', 1)[0]}`];
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify(answer ?? { error: 'there is no such endpoint', code: 'DRV_ENDPOINT_UNKNOWN' }),
    );
  });
  url = `http://127.0.0.1:${await listening(server)}`;
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

function connection(): HttpConnection {
  const key = { kind: 'text', key: 'drv_0123456789', from: 'it' } as const;
  return new HttpConnection(
    { name: 'prod', kind: 'context', url, key, trust: { kind: 'system' } },
    { version: '0.2.0' },
  );
}

async function drover(line: string): Promise<{ out: string; exitCode: number; message: string }> {
  const stdout = new PassThrough();
  const program = new Command('drover').exitOverride().configureOutput({ outputError: () => undefined });
  addClientCommands(program, {
    connect: async () => connection(),
    terminal: async () => ({ isInteractive: false, say: () => undefined, ask: async () => '' }),
    readInput: async () => '',
    environment: {},
    stdout,
  });
  const end = await program.parseAsync(line.split(' '), { from: 'user' }).then(() => undefined, endOf);
  stdout.end();
  return { out: await text(stdout), exitCode: end?.exitCode ?? 0, message: end?.message ?? '' };
}

describe('with a master that has only the first endpoints and fields', () => {
  it('what these suffice for works', async () => {
    expect((await drover('instance list')).out).toMatch(
      /^ID .*\nab12cd +lobby +ONLINE +n1 +10\.0\.0\.5:25565 +77\n$/,
    );
    expect((await drover('instance logs ab12cd')).out).toBe('one\ntwo\n');
    expect((await drover('instance stop ab12cd')).out).toBe('stop requested\n');
    expect((await drover('instance create lobby')).out).toContain('ab12cd');
    expect((await drover('delete instance ab12cd --yes')).out).toBe('removed\n');
    expect((await drover('template list')).out).toMatch(/world +a/);
  });

  it.each([
    'instance info ab12cd',
    'instance why ab12cd',
    'config list',
    'config diff lobby',
    'cluster nodes',
    'session list',
    'template sync world/a --no-wait',
  ])('"%s" says that the master lacks it, with nothing on stdout', async (line) => {
    expect(await drover(line)).toEqual({
      out: '',
      exitCode: EXIT.failed,
      message: 'prod does not have what this command needs: its Drover is older than this client',
    });
  });

  it('the test of a context says that the master is older', async () => {
    expect(await testConnection(connection(), '0.2.0')).toMatchObject({
      clusterName: 'games',
      skew: expect.stringContaining('older than this client'),
    });
    answers = { ...CONTRACT, 'GET /api/whoami': { key: 'k', scope: 'ALL', version: '0.1.3' } };
    expect((await testConnection(connection(), '0.2.0')).skew).toBe(
      'this client is 0.2.0, the master 0.1.3: the master may lack what this client offers',
    );
  });
});

describe('with a master that has more', () => {
  beforeEach(() => {
    const later = { ...INSTANCE, state: 'HIBERNATING', zone: { name: 'eu' }, tags: ['a'] };
    answers = {
      ...CONTRACT,
      'GET /api/instances': [later],
      'GET /api/instances/ab12cd/details': { ...later, desired: 'sleep' },
      'GET /api/sessions': [],
    };
  });

  it('what it does not know is shown, or passed on to programs', async () => {
    expect((await drover('instance list')).out).toMatch(/ab12cd +lobby +HIBERNATING/);
    expect(JSON.parse((await drover('instance list -o json')).out)).toEqual(answers['GET /api/instances']);
    expect(await drover('instance info ab12cd')).toMatchObject({
      exitCode: 0,
      out: expect.stringContaining('HIBERNATING'),
    });
  });

  it('the test of a context says so', async () => {
    answers = { ...answers, 'GET /api/whoami': { key: 'k', scope: 'SUPER', version: '0.3.0', quota: 5 } };
    expect((await testConnection(connection(), '0.2.0')).skew).toBe(
      'this client is 0.2.0, the master 0.3.0: this client may lack what the master offers',
    );
  });
});
