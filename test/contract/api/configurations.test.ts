/** Rows of the API contract: Configurations and their fields. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { refusal } from '../../support/api/refusal.js';
import { RowWorld } from './rows.js';

let world: RowWorld;
beforeAll(async () => {
  world = await RowWorld.start((daemon) => {
    daemon.configure('kept', { command: 'exec sleep 1000', minimumServiceCount: 0 });
  });
});
afterAll(() => world.stop());

const anError = refusal();
const SMALL = { runtime: 'process', command: 'exec sleep 1000', ramMB: 16, cpu: 1, minimumServiceCount: 0 };
const FULL = {
  name: 'full',
  runtime: 'process',
  command: 'exec sleep 1000',
  static: true,
  ramMB: 64,
  cpu: 50,
  instanceGroups: ['games'],
  nodes: ['node-a'],
  hostAddress: 'play.example.org',
  availablePorts: { min: 20_000, max: 20_010 },
  minimumServiceCount: 0,
  environmentVariables: { MODE: '%CONFIGURATION_NAME%' },
  templateInstallationConfig: {
    allOf: [{ name: 'base', group: 'games', storage: 'local', priority: 1 }],
    allInGroups: ['shared'],
    oneOf: [{ name: 'red', group: 'maps', storage: 'local', priority: 0 }],
    oneInGroups: ['skins'],
    onTemplatePasteOverridePresentFiles: true,
  },
  fileModifications: ['server.properties'],
  properties: { motd: 'hello' },
};

const put = (name: string, body: unknown) => world.call(`PUT /configurations/${name}`, { body });
const get = (name: string) => world.call(`GET /configurations/${name}`);

describe('Configurations', () => {
  it('GET /configurations: 200 array of Configuration', async () => {
    const { status, json } = await world.call('GET /configurations');
    expect(status).toBe(200);
    expect(json).toMatchObject([{ name: 'kept', runtime: 'process', minimumServiceCount: 0 }]);
  });

  it('GET /configurations/{name}: 200 Configuration', async () => {
    expect(await get('kept')).toMatchObject({
      status: 200,
      json: { name: 'kept', command: 'exec sleep 1000' },
    });
  });

  it('GET /configurations/{name}: 404 when the name does not exist', async () => {
    const { status, json } = await get('nope');
    expect([status, json]).toEqual([404, anError]);
  });

  it('PUT /configurations/{name}: 204, no body; creates when the name is new, with every field of the table', async () => {
    const { status, bytes } = await put('full', FULL);
    expect([status, bytes.length]).toEqual([204, 0]);
    expect((await get('full')).json).toMatchObject(FULL);
  });

  it('PUT /configurations/{name}: replaces otherwise, the whole of it', async () => {
    await put('replaced', { ...SMALL, properties: { old: '1' }, ramMB: 99 });
    expect((await put('replaced', { ...SMALL, properties: { fresh: '2' } })).status).toBe(204);
    expect((await get('replaced')).json).toMatchObject({ properties: { fresh: '2' }, ramMB: 16 });
    expect((await get('replaced')).json).not.toHaveProperty('properties.old');
  });

  it('PUT /configurations/{name}: the defaults are runtime screen, static false, ramMB 2048, cpu 100, minimumServiceCount 1', async () => {
    world.daemon.failing.add('defaults');
    // No node is allowed, so that the instance that the default asks for does not start.
    expect((await put('defaults', { command: 'exec sleep 1000', nodes: ['elsewhere'] })).status).toBe(204);
    expect((await get('defaults')).json).toMatchObject({
      name: 'defaults',
      runtime: 'screen',
      static: false,
      ramMB: 2048,
      cpu: 100,
      minimumServiceCount: 1,
    });
  });

  it('PUT /configurations/{name}: the path segment is authoritative, whatever name the body has', async () => {
    expect((await put('named', SMALL)).status).toBe(204);
    expect((await get('named')).json).toMatchObject({ name: 'named' });
    expect((await put('named', { ...SMALL, ramMB: 17, name: 'other' })).status).toBe(204);
    expect((await get('named')).json).toMatchObject({ name: 'named', ramMB: 17 });
    expect((await get('other')).status).toBe(404);
  });

  it('PUT /configurations/{name}: 400 {error} for a body that is no full Configuration, and nothing changes', async () => {
    for (const body of [
      {},
      { command: '' },
      { ...SMALL, ramMB: 'much' },
      [],
      { ...SMALL, availablePorts: { min: 9, max: 1 } },
    ]) {
      const { status, json } = await put('kept', body);
      expect([status, json]).toEqual([400, anError]);
    }
    expect((await get('kept')).json).toMatchObject({ command: 'exec sleep 1000' });
  });

  it('DELETE /configurations/{name}: 204; instances already deployed from it are unaffected', async () => {
    await put('leaving', { ...SMALL, minimumServiceCount: 1 });
    const [before] = await world.daemon.untilOnline('leaving', 1);
    const { status, bytes } = await world.call('DELETE /configurations/leaving');
    expect([status, bytes.length]).toEqual([204, 0]);
    expect((await get('leaving')).status).toBe(404);
    expect(await world.daemon.untilOnline('leaving', 1)).toMatchObject([
      { id: before?.id, processPid: before?.processPid, state: 'ONLINE' },
    ]);
    await world.call(`DELETE /instances/${before?.id}`);
  });

  it('DELETE /configurations/{name}: 404 when the name does not exist', async () => {
    expect((await world.call('DELETE /configurations/nope')).status).toBe(404);
  });
});
