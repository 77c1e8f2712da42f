import { describe, expect, it } from 'vitest';
import { buildEnvironment, type EnvironmentFacts } from '../../../src/runtime/command/environment.js';

const facts: EnvironmentFacts = {
  inherited: { PATH: '/bin', HOME: '/root' },
  configuration: { name: 'lobby', environmentVariables: {} },
  instance: { id: 'abc123', port: 4000 },
  nodeId: 'n1',
  apiUrl: 'http://10.0.0.1:7000/api',
  apiKey: 'drv_key',
  variables: new Map([['PORT', '4000']]),
  commandVariables: {},
};

describe('buildEnvironment', () => {
  it('lets only the listed variables of the daemon through', () => {
    const inherited = {
      PATH: '/bin',
      HOME: '/root',
      USER: 'root',
      LANG: 'C',
      LC_ALL: 'C.UTF-8',
      TZ: 'UTC',
      SHELL: '/bin/sh',
      TERM: 'xterm',
      LC_: 'no',
      NODE_OPTIONS: '--inspect',
      DROVER_JOIN_TOKEN: 'secret',
      LD_PRELOAD: 'x.so',
      UNSET: undefined,
    };
    expect(Object.keys(buildEnvironment({ ...facts, inherited })).sort()).toEqual(
      'DROVER_API_KEY DROVER_API_URL DROVER_CONFIGURATION DROVER_INSTANCE_ID DROVER_NODE_ID DROVER_PORT GIT_PAGER HOME LANG LC_ALL PAGER PATH PORT SHELL TERM TZ USER'.split(
        ' ',
      ),
    );
  });

  it('says what the instance is and where the API answers', () => {
    expect(buildEnvironment(facts)).toEqual({
      PATH: '/bin',
      PAGER: 'cat',
      GIT_PAGER: 'cat',
      HOME: '/root',
      DROVER_INSTANCE_ID: 'abc123',
      DROVER_CONFIGURATION: 'lobby',
      DROVER_NODE_ID: 'n1',
      DROVER_PORT: '4000',
      PORT: '4000',
      DROVER_API_URL: 'http://10.0.0.1:7000/api',
      DROVER_API_KEY: 'drv_key',
    });
  });

  it('says where the authority is with which it checks the API, where there is one', () => {
    const environment = buildEnvironment({ ...facts, apiAuthority: '/srv/drover/api-ca.pem' });
    expect(environment).toHaveProperty('DROVER_API_CA', '/srv/drover/api-ca.pem');
  });

  it('replaces variables in configured values, which win over the inherited and lose against ours', () => {
    const environmentVariables = {
      HOME: '/srv',
      URL: 'http://x:%PORT%/%NO%',
      DROVER_API_KEY: 'mine',
      PORT: '1',
    };
    const environment = buildEnvironment({
      ...facts,
      configuration: { name: 'lobby', environmentVariables },
    });
    expect(environment).toMatchObject({
      HOME: '/srv',
      URL: 'http://x:4000/%NO%',
      DROVER_API_KEY: 'drv_key',
      PORT: '4000',
    });
  });

  it('sets no port of its own without one, and keeps a configured one', () => {
    const instance = { id: 'abc123', port: null };
    const configuration = { name: 'lobby', environmentVariables: { PORT: '99' } };
    const environment = buildEnvironment({ ...facts, instance, configuration });
    expect(environment).not.toHaveProperty('DROVER_PORT');
    expect(environment).toHaveProperty('PORT', '99');
    expect(buildEnvironment({ ...facts, instance })).not.toHaveProperty('PORT');
  });

  it('gives a PATH when the daemon has none, and the variables of the command', () => {
    const environment = buildEnvironment({
      ...facts,
      inherited: {},
      commandVariables: { DROVER_VAR_1: '%PORT% $(x)' },
    });
    expect(environment).toHaveProperty(
      'PATH',
      '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    );
    expect(environment).toHaveProperty('DROVER_VAR_1', '%PORT% $(x)');
  });
});
