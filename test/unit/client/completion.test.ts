/** What completes a line of the shell: words of the tree, names of the master, files; and nothing when it is away. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildProgram } from '../../../src/cli/program.js';
import { candidatesFor, masterNames } from '../../../src/client/completion/candidates.js';
import { scriptOf } from '../../../src/client/completion/scripts.js';
import type { NameKind, NameSource } from '../../../src/command-tree/help/candidates.js';
import { TemporaryHome } from '../../support/client/temporary-home.js';
import { listening } from '../../support/client/tls-servers.js';

const program = buildProgram('0.1.0');
const KNOWN: Readonly<Record<Exclude<NameKind, 'files'>, readonly string[]>> = {
  contexts: ['prod', 'test'],
  instances: ['ab12cd', 'ax34ef'],
  configurations: ['lobby', 'survival'],
  nodes: ['node-a'],
  keys: ['ci'],
  sessions: ['s1'],
  joinTokens: ['t1'],
  templates: ['world/lobby', 'base/server'],
  extensionCommands: ['greet'],
};
const names: NameSource = async (kind, template) =>
  (kind === 'files' ? [`file of ${template}`] : KNOWN[kind]).map((word) => ({ word, about: '' }));

async function wordsOf(line: string): Promise<string[]> {
  return (await candidatesFor(program, line, names)).map(({ word }) => word);
}

describe('a line is completed with', () => {
  it.each([
    ['drover inst', ['instance']],
    ['drover gr', ['greet']],
    ['drover instance st', ['stop', 'start']],
    ['drover help cluster token cr', ['create']],
    ['drover -o json cluster co', ['cordon']],
    ['drover --context prod instance sto', ['stop']],
    ['drover instance list --out', ['--output']],
    ['drover instance list -o y', ['yaml']],
    ['drover completion ', ['bash', 'zsh', 'fish']],
    ['drover instance info ', ['ab12cd', 'ax34ef']],
    ['drover instance info ab', ['ab12cd']],
    ['drover instance info ab12cd ', []],
    ['drover instance list ', ['lobby', 'survival']],
    ['drover config show su', ['survival']],
    ['drover cluster drain ', ['node-a']],
    ['drover delete key ', ['ci']],
    ['drover session revoke ', ['s1']],
    ['drover cluster token revoke ', ['t1']],
    ['drover context use ', ['prod', 'test']],
    ['drover context add ', []],
    ['drover instance list --context ', ['prod', 'test']],
    ['drover --root ', [':files']],
    ['drover apply -f ', [':files']],
    ['drover template sync w', ['world/*', 'world/lobby']],
    ['drover wait node ', ['node-a']],
    ['drover wait instance ab12cd ax', ['ax34ef']],
    ['drover logs l', ['lobby']],
    ['drover cp ./a world/', ['world/lobby:', ':files']],
    ['drover cp world/lobby:f', ['world/lobby:file of world/lobby']],
    ['drover __', []],
    ['drover nothing at all', []],
  ])('%s', async (line, words) => {
    expect(await wordsOf(line)).toEqual(words);
  });

  it('the words of the first place, without hidden ones', async () => {
    const first = await wordsOf('drover ');
    expect(first).toEqual(expect.arrayContaining(['start', 'instance', 'cp', 'completion', 'help', 'greet']));
    expect(first.filter((word) => /[*_]/.test(word))).toEqual([]);
  });
});

it('a name that holds characters of the shell stays one word of bash', () => {
  const name = "games/a:b c$(echo gone)'.txt";
  const script = [
    scriptOf('bash'),
    `drover() { printf '%s\\t\\n' "$NAME"; }`,
    'COMP_LINE="drover cp games/a:" COMP_POINT=18',
    '_drover drover',
    'eval "set -- ${COMPREPLY[0]}"',
    `printf '%s' "games/a:$1"`,
  ].join('\n');
  expect(execFileSync('bash', ['-c', script], { encoding: 'utf8', env: { NAME: name } })).toBe(name);
});

describe('names', () => {
  let home: TemporaryHome;
  beforeEach(() => {
    home = new TemporaryHome();
  });
  afterEach(() => home.remove());

  const namesFor = (context: object, limitMs?: number): NameSource => {
    home.writeContexts({ current: 'prod', contexts: { prod: context } });
    return masterNames({}, home.surroundings(), '0.1.0', limitMs);
  };

  it('come from the master of the current context', async () => {
    const server = createServer((request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify([{ id: 'ab12cd', configurationName: request.url, state: 'ONLINE' }]));
    });
    try {
      const url = `http://127.0.0.1:${await listening(server)}`;
      expect(await namesFor({ url, key: 'drv_0123456789' }, 60_000)('instances')).toEqual([
        { word: 'ab12cd', about: '/api/instances, ONLINE' },
      ]);
    } finally {
      server.close();
      await once(server, 'close');
    }
  });

  it('are none, and nothing is said, when the master refuses, is away, does not answer, or no key is at hand', async () => {
    const silent = createServer((request, response) => {
      if (request.url !== '/api/instances') response.writeHead(403).end();
    });
    const url = `http://127.0.0.1:${await listening(silent)}`;
    try {
      const key = 'drv_0123456789';
      expect(await namesFor({ url, key })('nodes')).toEqual([]);
      // Without a limit this one would never end.
      expect(await namesFor({ url, key })('instances')).toEqual([]);
      expect(await namesFor({ url, keyFile: '/nowhere/key' })('nodes')).toEqual([]);
      expect(await namesFor({ url, keyCommand: ['touch', `${home.path}/asked`] })('nodes')).toEqual([]);
      expect(await namesFor({ url: 'http://127.0.0.1:1', key })('nodes')).toEqual([]);
      expect(await namesFor({})('nodes')).toEqual([]);
      home.writeContexts({}, 0o644);
      expect(home.said).toEqual([]);
    } finally {
      silent.closeAllConnections();
      silent.close();
      await once(silent, 'close');
    }
  });
});
