/** What a runtime is asked to start for an instance with a user of its own. */
import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import type { MasterAddress } from '../../../src/channel/protocol/messages.js';
import { type ConfigurationInput, configurationSchema } from '../../../src/model/configuration.js';
import { NodeUsers } from '../../../src/runtime/command/node-users.js';
import { LocalInstallation } from '../../../src/runtime/installation/local-installation.js';
import { Workspaces } from '../../../src/runtime/installation/workspace.js';
import type { StartSpec } from '../../../src/runtime/runtime.js';
import { TemplateCache } from '../../../src/templates/transfer/cache.js';
import { FakeClock } from '../../support/fake-clock.js';
import { editThread, packThreads } from '../../support/templates/pack-threads.js';
import { quietLogger } from '../../support/templates/template-trees.js';

const users = new NodeUsers(undefined, {
  uid: 0,
  gid: 0,
  username: 'root',
  passwords: () => 'root:x:0:0::/root:/bin/bash\ngames:x:5:60:games:/usr/games:/bin/bash\n',
  status: () => 'CapEff:\t000001ffffffffff\n',
  setpriv: () => '/usr/bin/setpriv',
  hasBash: () => true,
});

const cache = new TemplateCache({
  directory: '/nowhere/cache',
  packThreads,
  logger: quietLogger,
  clock: new FakeClock(),
});
const installation = new LocalInstallation({
  nodeId: 'node-a',
  address: '127.0.0.1',
  runningDirectory: '/nowhere/running',
  logsDirectory: '/nowhere/logs',
  apiAuthority: '/nowhere/api-ca.pem',
  cache,
  workspaces: new Workspaces({
    runningDirectory: '/nowhere/running',
    installedDirectory: '/nowhere/installed',
    cache,
    packThreads,
    editThread,
    logger: quietLogger,
  }),
  clock: new FakeClock(),
  inherited: { PATH: '/bin', HOME: '/root', USER: 'root', SHELL: '/bin/zsh', LANG: 'C' },
  users,
});

function specOf(fields: Partial<ConfigurationInput>, master?: MasterAddress): StartSpec {
  const configuration = configurationSchema.parse({ name: 'a', command: 'echo hello', ...fields });
  const assignment = {
    id: 'abc123',
    configurationName: 'a',
    revision: 'r',
    goal: 'run' as const,
    restartToken: 0,
    port: null,
    hostAddress: '127.0.0.1',
    templates: [],
    apiKey: 'drv_key',
  };
  return installation.launchSpec({ assignment, configuration }, 1, master);
}

/** The environment as the command finds it. */
const given = ({ environment }: StartSpec, name: string): string | undefined =>
  environment[`DROVER_AS_${name}`];

it('is the command itself, with who Drover is, where no other user is meant', () => {
  const spec = specOf({});
  expect(spec.command).toMatch(/echo hello$/);
  expect(spec.environment).toMatchObject({ HOME: '/root', USER: 'root', SHELL: '/bin/zsh' });
  expect(specOf({ runAs: 'root' })).toEqual(spec);
});

it('is a change of user that goes on with the command, and with who that user is', () => {
  const named = specOf({ runAs: 'games' });
  expect(named.command).toContain('exec /usr/bin/setpriv --reuid=5 --regid=60 --init-groups ');
  expect(named.environment.DROVER_AS).toBe(specOf({}).command);
  expect(['HOME', 'USER', 'SHELL', 'LANG'].map((name) => given(named, name))).toEqual([
    '/usr/games',
    'games',
    '/bin/bash',
    'C',
  ]);
  const numbered = specOf({ runAs: '7:8' });
  expect(['HOME', 'USER', 'SHELL'].map((name) => given(numbered, name))).toEqual([
    '/nowhere/running/abc123',
    undefined,
    '/bin/sh',
  ]);
});

it('tells a container the numbers of the user, unless it has a user of its own', () => {
  const spec = specOf({ runtime: 'docker', runAs: 'games', properties: { image: 'i' } });
  expect(spec.properties).toEqual({ dockerUser: '5:60', image: 'i' });
  expect(spec.command).toMatch(/echo hello$/);
  const own = specOf({ runtime: 'docker', runAs: 'games', properties: { dockerUser: 'web' } });
  expect(own.properties).toEqual({ dockerUser: 'web' });
});

it('says how the API is reached: without TLS, with the authority of the cluster, with a certificate of others', () => {
  const master = { nodeId: 'm', address: 'fd00::1', port: 6000, apiPort: 7000 };
  const said = (apiTls: MasterAddress['apiTls'], fields: Partial<ConfigurationInput> = {}): unknown[] => {
    const spec = specOf(fields, { ...master, ...(apiTls !== undefined && { apiTls }) });
    return [spec.environment.DROVER_API_URL, spec.environment.DROVER_API_CA, spec.apiAuthority];
  };
  const file = '/nowhere/api-ca.pem';
  expect(said(undefined)).toEqual(['http://[fd00::1]:7000/api', undefined, undefined]);
  expect(said({ authority: null })).toEqual(['https://[fd00::1]:7000/api', undefined, undefined]);
  expect(said({ authority: 'PEM' })).toEqual(['https://[fd00::1]:7000/api', file, file]);
  const container = { runtime: 'docker', properties: { image: 'a:1' } };
  expect(said({ authority: 'PEM' }, container)).toEqual([
    'https://[fd00::1]:7000/api',
    '/etc/drover/api-ca.pem',
    file,
  ]);
});

it('sets the limits of open files before it changes the user', () => {
  const run = (fields: Partial<ConfigurationInput>): string =>
    execFileSync('/bin/sh', [
      '-c',
      specOf({ command: 'ulimit -Sn; ulimit -Hn', ...fields }).command,
    ]).toString();
  expect(run({ limits: { nofile: 256 } })).toBe('256\n256\n');
  expect(run({ limits: { nofile: { soft: 200, hard: 300 } } })).toBe('200\n300\n');
  expect(specOf({ runAs: '1234:1234', limits: { nofile: 256 } }).command).toMatch(
    /^\{ ulimit [^\n]*\n.*setpriv/s,
  );
  const docker = specOf({ runtime: 'docker', limits: { nofile: 256, pids: 20 } });
  expect(docker).toMatchObject({ pids: 20, nofile: { soft: 256, hard: 256 } });
  expect(docker.command).not.toContain('ulimit');
});

it('says in the log when a limit of open files does not hold', () => {
  const { command } = specOf({ command: 'echo runs', limits: { nofile: 1_000_000 } });
  const said = execFileSync('/bin/sh', [
    '-c',
    `ulimit -n 500; exec setpriv --bounding-set -all --inh-caps -all --reuid 65534 --clear-groups /bin/sh -c "$1"`,
    'sh',
    command,
  ]);
  expect(said.toString()).toBe(
    'drover: limits.nofile does not hold for this start: Drover may not set it\nruns\n',
  );
});
