/** Which master a command goes to, as text: options, variables, file and directory in, the choice and what is said out. */
import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { chooseTarget, type TargetOptions } from '../../../src/client/contexts/choose-target.js';
import { TemporaryHome } from '../../support/client/temporary-home.js';

let home: TemporaryHome;
beforeEach(() => {
  home = new TemporaryHome();
});
afterEach(() => home.remove());

const KEY = `drv_${'a'.repeat(36)}`;
const CONTEXTS = {
  current: 'prod',
  contexts: {
    prod: { url: 'https://prod.example:7000', keyFile: '/keys/prod' },
    test: { url: 'https://test.example', keyCommand: ['pass', 'drover/test'] },
    bad: { url: 'https://bad.example' },
  },
};

interface Case extends TargetOptions {
  readonly variables?: NodeJS.ProcessEnv;
  readonly directory?: string;
}

/** `name url`, then what was said; or the exit code and the message. */
async function choose({ variables, directory, ...options }: Case): Promise<string[]> {
  try {
    const { name, url } = await chooseTarget(options, home.surroundings(variables, directory));
    return [`${name} ${url}`, ...home.said];
  } catch (error) {
    const exitCode = error instanceof Error && 'exitCode' in error ? String(error.exitCode) : '?';
    return [`${exitCode} ${error instanceof Error ? error.message : ''}`];
  }
}

function makeRoot(configuration: object = {}): string {
  home.write('root/config.json', JSON.stringify(configuration));
  home.write('root/data/admin.key', `${KEY}\n`);
  mkdirSync(join(home.path, 'root/configurations'));
  return join(home.path, 'root');
}

describe('with contexts', () => {
  beforeEach(() => home.writeContexts(CONTEXTS));
  const url = { DROVER_URL: 'https://other.example/', DROVER_KEY: KEY };

  it.each<[string, Case, string[]]>([
    ['the current one', {}, ['prod https://prod.example:7000']],
    ['an option', { context: 'test' }, ['test https://test.example']],
    [
      'an option before all variables',
      { context: 'test', variables: { ...url, DROVER_CONTEXT: 'prod' } },
      ['test https://test.example'],
    ],
    [
      'a variable in the place of the current one',
      { variables: { DROVER_CONTEXT: 'test' } },
      [
        'test https://test.example',
        'DROVER_CONTEXT chooses context test in the place of the current one, prod',
      ],
    ],
    [
      'a variable that names the current one',
      { variables: { DROVER_CONTEXT: 'prod' } },
      ['prod https://prod.example:7000'],
    ],
    [
      'an empty variable like none',
      { variables: { DROVER_CONTEXT: '', DROVER_URL: '' } },
      ['prod https://prod.example:7000'],
    ],
    [
      'an address in the place of the current one',
      { variables: url },
      [
        'other.example https://other.example',
        'DROVER_URL chooses https://other.example in the place of the current context, prod',
      ],
    ],
    [
      'a named context before an address',
      { variables: { ...url, DROVER_CONTEXT: 'prod' } },
      ['prod https://prod.example:7000', 'DROVER_URL has no effect beside DROVER_CONTEXT'],
    ],
    [
      'the current one, and says that a key alone has no effect',
      { variables: { DROVER_KEY: KEY } },
      ['prod https://prod.example:7000', 'DROVER_KEY has no effect without DROVER_URL'],
    ],
  ])('takes %s', async (_what, given, outcome) => {
    expect(await choose(given)).toEqual(outcome);
  });

  it.each<[Case, string]>([
    [{ context: 'none' }, '64 there is no context none: there are prod, test, bad'],
    [
      { variables: { DROVER_CONTEXT: 'none' } },
      '64 there is no context none, which DROVER_CONTEXT names: there are prod, test, bad',
    ],
    [{ context: 'prod', root: '/r' }, '64 give --context or --root, not both'],
    [
      { context: 'bad' },
      '1 context bad: it must have one of key, keyFile and keyCommand; mend it, or remove the context and add it again',
    ],
    [{ variables: { DROVER_URL: 'https://x' } }, '64 DROVER_URL needs one of DROVER_KEY and DROVER_KEY_FILE'],
    [
      { variables: { ...url, DROVER_KEY_FILE: 'k' } },
      '64 DROVER_URL needs one of DROVER_KEY and DROVER_KEY_FILE',
    ],
    [
      { variables: { DROVER_URL: 'master:7000', DROVER_KEY: KEY } },
      '64 DROVER_URL must begin with https:// or http://, such as https://master.example:7000',
    ],
  ])('refuses %j', async (given, message) => {
    expect(await choose(given)).toEqual([message]);
  });

  it('goes to the master of the root that it stands in, and says so; --context chooses another', async () => {
    const root = makeRoot({ apiPort: 7100 });
    expect(await choose({ directory: root })).toEqual([
      `${root} http://127.0.0.1:7100`,
      `the master in ${root} is asked, not the current context: for that give --context prod`,
    ]);
    home.said.length = 0;
    expect(await choose({ directory: root, context: 'prod' })).toEqual(['prod https://prod.example:7000']);
  });

  it('says that a key would travel in clear to an address of DROVER_URL, apart from loopback', async () => {
    home.writeContexts({});
    const to = (address: string) => choose({ variables: { DROVER_URL: address, DROVER_KEY: KEY } });
    expect(await to('http://127.0.0.1:7000')).toEqual(['127.0.0.1:7000 http://127.0.0.1:7000']);
    expect(await to('http://[::1]:7000')).toEqual(['[::1]:7000 http://[::1]:7000']);
    expect(await to('http://10.0.0.1:7000')).toEqual([
      '10.0.0.1:7000 http://10.0.0.1:7000',
      expect.stringMatching(/^warning: the key travels in clear to http:\/\/10\.0\.0\.1:7000/),
    ]);
  });

  it('needs no file for an address, and is stopped by no damaged one', async () => {
    chmodSync(home.contextsPath, 0o644);
    expect(await choose({ variables: url })).toEqual(['other.example https://other.example']);
    expect(await choose({ variables: { ...url, HOME: undefined } })).toEqual([
      'other.example https://other.example',
    ]);
  });
});

describe('without contexts', () => {
  it('takes the master in whose root one stands, also below it', async () => {
    const root = makeRoot();
    expect(await choose({ directory: join(root, 'configurations') })).toEqual([
      `${root} http://127.0.0.1:7000`,
    ]);
  });

  it.each<[object, string]>([
    [{ address: '10.0.0.7', apiPort: 8000 }, 'http://127.0.0.1:8000'],
    [{ address: '127.0.0.2' }, 'http://127.0.0.2:7000'],
    [{ bindAddress: '10.0.0.7' }, 'http://10.0.0.7:7000'],
    [{ bindAddress: '0.0.0.0' }, 'http://127.0.0.1:7000'],
    [{ bindAddress: '::' }, 'http://[::1]:7000'],
    [{ apiTls: 'cluster' }, 'https://127.0.0.1:7000'],
  ])('finds the API of a node with %j', async (configuration, url) => {
    const root = makeRoot(configuration);
    expect(await choose({ directory: root })).toEqual([`${root} ${url}`]);
  });

  it('trusts the authority of the node itself, or its own certificate', async () => {
    const trustOf = async (apiTls: unknown) => {
      const root = makeRoot({ apiTls });
      const { trust } = await chooseTarget({ root }, home.surroundings());
      home.remove();
      return { root, trust };
    };
    const cluster = await trustOf('cluster');
    expect(cluster.trust).toMatchObject({ kind: 'file', path: join(cluster.root, 'api-ca.pem') });
    const files = await trustOf({ certificate: 'tls/api.pem', key: 'tls/api.key' });
    expect(files.trust).toMatchObject({ kind: 'file', path: join(files.root, 'tls/api.pem') });
  });

  it('says what can be chosen when nothing is', async () => {
    expect(await choose({})).toEqual([
      '64 no master is chosen; add a context: drover context add NAME --url https://..., set DROVER_URL and DROVER_KEY_FILE, or give the root of a master with --root',
    ]);
    home.writeContexts({ contexts: CONTEXTS.contexts });
    expect((await choose({}))[0]).toContain('choose a context: drover context use NAME (prod, test, bad)');
    expect((await choose({ variables: { HOME: undefined } }))[0]).toContain(
      '(which needs HOME or XDG_CONFIG_HOME)',
    );
  });

  it('says what a master lacks that was not started yet', async () => {
    const root = makeRoot({});
    rmSync(join(root, 'data/admin.key'));
    expect((await choose({ directory: root }))[0]).toContain(
      `64 the node in ${root} has no data/admin.key, which a master makes at its first start; add a context`,
    );
  });

  it('refuses a --root without a master', async () => {
    const root = makeRoot({ isMasterNode: false, masterAddress: '10.0.0.1' });
    expect(await choose({ root })).toEqual([
      `64 the node in ${root} is not the master: its commands run on 10.0.0.1`,
    ]);
    expect((await choose({ root: '/nowhere' }))[0]).toBe(
      '64 there is no node in /nowhere (no config.json): give another --root',
    );
    home.write('root/config.json', '{');
    expect((await choose({ root }))[0]).toMatch(/^1 .*config\.json is not valid: "drover start --root/);
  });

  it('does not read a context without a home', async () => {
    expect((await choose({ context: 'prod', variables: { HOME: undefined } }))[0]).toMatch(
      /^64 there is no place for contexts/,
    );
  });
});
