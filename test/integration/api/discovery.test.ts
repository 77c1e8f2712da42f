/** `/discovery/...`: what serves, in the forms of proxies, and what has left before it ends. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { InstanceRecord } from '../../../src/model/instance.js';
import { ApiWorld, instanceRecord, instanceStatus } from '../../support/api/api-world.js';

let world: ApiWorld;
const availablePorts = { min: 1, max: 65_535 };

beforeEach(async () => {
  world = await new ApiWorld().start();
  await world.server.start();
  await world.addConfiguration('web', { availablePorts, expose: { host: 'a.example.org', path: '/x' } });
  await world.addConfiguration('plain', { availablePorts });
  await add('aaaaaa', 25_001);
  await add('bbbbbb', 25_002, {
    placement: { nodeId: 'n2', port: 25_002, hostAddress: '::1', templates: [] },
  });
  await add('cccccc', 25_003, { configurationName: 'plain' });
});
afterEach(() => world.stop());

const add = (id: string, port: number, fields: Partial<InstanceRecord> = {}) =>
  world.putInstance(
    instanceRecord({
      id,
      configurationName: 'web',
      placement: { nodeId: 'n1', port, hostAddress: '10.0.0.1', templates: [] },
      ...fields,
    }),
  );

async function read(path: string, token = world.admin): Promise<string> {
  const answer = await world.call('GET', `/discovery/${path}`, undefined, token);
  expect(answer.status, path).toBe(200);
  return answer.text();
}

it('lists what serves, as Prometheus, Traefik, HAProxy and scripts read it', async () => {
  const target = (address: string, id: string, node: string, configuration = 'web') => ({
    targets: [address],
    labels: {
      __meta_drover_configuration: configuration,
      __meta_drover_instance: id,
      __meta_drover_node: node,
    },
  });
  const plain = target('10.0.0.1:25003', 'cccccc', 'n1', 'plain');
  expect(JSON.parse(await read('prometheus'))).toEqual([
    plain,
    target('10.0.0.1:25001', 'aaaaaa', 'n1'),
    target('[::1]:25002', 'bbbbbb', 'n2'),
  ]);
  expect(JSON.parse(await read('prometheus?configuration=plain'))).toEqual([plain]);
  expect(JSON.parse(await read('traefik'))).toEqual({
    http: {
      routers: { web: { rule: 'Host(`a.example.org`) && PathPrefix(`/x`)', service: 'web' } },
      services: {
        web: { loadBalancer: { servers: [{ url: 'http://10.0.0.1:25001' }, { url: 'http://[::1]:25002' }] } },
      },
    },
  });
  expect(await read('haproxy')).toBe(
    'backend web\n    balance roundrobin\n    server aaaaaa 10.0.0.1:25001 check\n    server bbbbbb [::1]:25002 check\n',
  );
  expect(await read('addresses/web')).toBe('10.0.0.1:25001\n[::1]:25002\n');
  expect((await world.call('GET', '/discovery/addresses/absent')).status).toBe(404);
});

it.each<[string, Partial<InstanceRecord>]>([
  ['a stop', { desired: { goal: 'stop', restartToken: 0 } }],
  ['a removal', { desired: { goal: 'remove', restartToken: 0 } }],
  ['a restart', { status: { ...instanceStatus('ONLINE'), awaitsRestart: true } }],
  ['a stop of its node', { status: { ...instanceStatus('ONLINE'), reason: 'stopping' } }],
  ['a crash', { status: instanceStatus('OFFLINE') }],
])('leaves out what %s is about to end', async (_why, fields) => {
  await add('aaaaaa', 25_001, fields);
  expect(await read('addresses/web')).toBe('[::1]:25002\n');
});

it('lists older contents beside a newer one until they are replaced: a canary does not get all requests', async () => {
  await add('aaaaaa', 25_001, { outdated: true });
  expect(await read('addresses/web')).toBe('10.0.0.1:25001\n[::1]:25002\n');
});

it('has no router without a server', async () => {
  for (const id of ['aaaaaa', 'bbbbbb']) await world.dropInstance(id);
  expect(JSON.parse(await read('traefik'))).toEqual({});
  expect(await read('addresses/web')).toBe('');
});

it('answers 304 while nothing has changed, and shows a restricted key its configurations alone', async () => {
  const token = await world.addKey('plain', 'READ', { configurations: ['plain'] });
  expect(JSON.parse(await read('traefik', token))).toEqual({});
  expect(JSON.parse(await read('prometheus', token))).toHaveLength(1);
  expect((await world.call('GET', '/discovery/addresses/web', undefined, token)).status).toBe(404);
  const first = await world.call('GET', '/discovery/addresses/web');
  const etag = first.headers.get('etag') ?? '';
  const again = () =>
    fetch(`${world.url}/discovery/addresses/web`, {
      headers: { authorization: `Bearer ${world.admin}`, 'if-none-match': etag },
    });
  expect((await again()).status).toBe(304);
  await world.dropInstance('aaaaaa');
  expect(await (await again()).text()).toBe('[::1]:25002\n');
});

it('names an address once for proxies and scripts where instances share it, and each instance for Prometheus', async () => {
  const placement = { nodeId: 'n1', port: 25_001, hostAddress: '10.0.0.1', templates: [], sharedBy: 'web' };
  await add('a00000', 25_001, { placement });
  await add('dddddd', 25_001, { placement });
  expect(await read('addresses/web')).toBe('10.0.0.1:25001\n[::1]:25002\n');
  expect((await read('haproxy')).match(/server \S+/g)).toEqual(['server a00000', 'server bbbbbb']);
  expect(JSON.parse(await read('traefik')).http.services.web.loadBalancer.servers).toHaveLength(2);
  expect(JSON.parse(await read('prometheus?configuration=web'))).toHaveLength(4);
});
