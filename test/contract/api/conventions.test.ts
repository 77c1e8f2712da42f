/**
 * Rows of the API contract about all endpoints: response conventions and versioning. It also checks that no row is
 * without a test.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OpenApiCheck } from '../../support/api/openapi-check.js';
import { type ApiDocument, apiDocumentSchema } from '../../support/api/openapi-document.js';
import { REPOSITORY } from '../../support/repository-root.js';
import { RowWorld } from './rows.js';

const HERE = join(REPOSITORY, 'test/contract/api');
/**
 * The contract stands beside the project's checkout. A copy of the code may be without it; then its test is
 * skipped.
 */
const CONTRACT = join(REPOSITORY, '../shared/spec/control-plane-api.md');
const WHY_SKIPPED = 'the contract document is not beside this checkout';

let world: RowWorld;
let document: ApiDocument;
beforeAll(async () => {
  world = await RowWorld.start((daemon) => {
    daemon.configure('idle', { command: 'sleep 1000', minimumServiceCount: 0 });
  });
  document = apiDocumentSchema.parse((await world.call('GET /openapi.json', { token: null })).json);
});
afterAll(() => world.stop());

const successes = () =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, { responses }]) =>
      Object.entries(responses)
        .filter(([status]) => status.startsWith('2'))
        .map(([status, { content }]) => ({ row: `${method.toUpperCase()} ${path}`, status, content })),
    ),
  );

describe('Response conventions', () => {
  it('1. A collection is returned as a bare JSON array, with no envelope', async () => {
    const paths = ['/instances', '/configurations', '/templates', '/cluster/nodes', '/audit'];
    for (const path of paths) {
      expect(Array.isArray((await world.call(`GET ${path}`)).json), path).toBe(true);
    }
  });

  it('2. A single resource is returned as the object itself', async () => {
    expect((await world.call('GET /configurations/idle')).json).toMatchObject({ name: 'idle' });
    expect((await world.call('GET /cluster/nodes/node-a')).json).toMatchObject({ nodeId: 'node-a' });
  });

  it('3. An action endpoint returns a small status object, usually message plus the affected identifier', async () => {
    const { json } = await world.call('POST /instances', { body: { configurationName: 'idle' } });
    const { id } = JSON.parse(JSON.stringify(json));
    const stopped = await world.call(`PATCH /instances/${id}/lifecycle?target=stop`);
    expect(stopped.json).toEqual({ message: expect.any(String), instanceId: id, target: 'stop' });
    const removed = await world.call(`DELETE /instances/${id}`);
    expect(removed.json).toEqual({ message: expect.any(String), instanceId: id });
  });

  it('4. A write that returns nothing answers 204 No Content', async () => {
    const body = { name: 'short', command: 'sleep 1', runtime: 'process', minimumServiceCount: 0 };
    const put = await world.call('PUT /configurations/short', { body });
    const removed = await world.call('DELETE /configurations/short');
    expect([put.status, put.bytes.length, removed.status, removed.bytes.length]).toEqual([204, 0, 204, 0]);
    const empty = successes().filter(({ status, content }) => status === '204' || content === undefined);
    expect(empty.map(({ row, status }) => `${row} ${status}`)).toEqual([
      'PUT /configurations/{name} 204',
      'DELETE /configurations/{name} 204',
      'POST /webhooks/{name}/test 204',
    ]);
  });
});

describe('Versioning', () => {
  it('The interface description carries version 1.0.0', () => {
    expect(document.info).toMatchObject({ version: '1.0.0' });
  });

  it('Paths carry no version segment, only the /api prefix', async () => {
    expect(Object.keys(document.paths).filter((path) => /\/v\d/.test(path))).toEqual([]);
    expect(document.servers).toMatchObject([{ url: '{scheme}://{host}:{port}/api' }]);
    expect((await world.call('GET /v1/instances')).status).toBe(404);
  });
});

describe('The checklist', () => {
  const rows = existsSync(CONTRACT) ? endpointRows(readFileSync(CONTRACT, 'utf8')) : [];
  const names = testNames();

  it('is checked against the contract', (context) => {
    if (rows.length === 0) context.skip(WHY_SKIPPED);
    expect(rows.length).toBeGreaterThan(30);
  });

  it.each(rows)('%s has a test that is named after it, and an operation in the description', (row) => {
    expect(names.filter((name) => name.startsWith(`${row}:`))).not.toEqual([]);
    expect(OpenApiCheck.load().has(row)).toBe(true);
  });
});

/** `METHOD /path` of each row in the tables of the section Endpoints. */
function endpointRows(text: string): string[] {
  const section = text.split('\n## Endpoints\n')[1]?.split('\n## ')[0] ?? '';
  return [...section.matchAll(/^\| (GET|POST|PUT|PATCH|DELETE) \| (\/\S+) \|/gm)].map(
    ([, method, path]) => `${method} ${path}`,
  );
}

/** The names of the tests in this folder, read from their source. */
function testNames(): string[] {
  return readdirSync(HERE)
    .filter((file) => file.endsWith('.test.ts'))
    .flatMap((file) => [...readFileSync(join(HERE, file), 'utf8').matchAll(/\bit\(\s*(['"`])(.+?)\1,/g)])
    .map(([, , name = '']) => name);
}
