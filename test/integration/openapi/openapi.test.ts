/** The API's description: committed, complete, valid by itself, and a check that would notice a wrong answer. */
import { hostname } from 'node:os';
import { createConfig, lint } from '@redocly/openapi-core';
import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeApi, toOpenApiPath } from '../../../src/api/openapi/document.js';
import { ApiWorld, instanceRecord } from '../../support/api/api-world.js';
import { DOCUMENT_FILE, OpenApiCheck } from '../../support/api/openapi-check.js';
import { apiDocumentSchema } from '../../support/api/openapi-document.js';

const STALE =
  'manifests/openapi.json is not what the routes say: npx vitest run test/integration/openapi/openapi.test.ts -u';

let world: ApiWorld;
let description: string;
beforeAll(async () => {
  world = await new ApiWorld().start();
  await world.server.start();
  description = await world.server.describe();
});
afterAll(() => world.stop());

const document = () => apiDocumentSchema.parse(JSON.parse(description));
const operations = () =>
  Object.entries(document().paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  );

describe('the description of the API', () => {
  it('is committed as the routes say it', async () => {
    await expect(description, STALE).toMatchFileSnapshot(DOCUMENT_FILE);
  });

  it('is the same every time, and knows nothing of the machine', async () => {
    expect(await world.server.describe()).toBe(description);
    expect(description).not.toContain(`"${hostname()}"`);
  });

  it('is served to everyone, byte for byte', async () => {
    const response = await fetch(`${world.url}/openapi.json`);
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'application/json; charset=utf-8',
    ]);
    expect(await response.text()).toBe(description);
  });

  it('has every route and every socket, each under a name of its own', () => {
    const { routes, sockets } = world.server;
    const offered = [...routes, ...sockets.map(({ path }) => ({ method: 'GET', path }))].map(
      ({ method, path }) => `${method.toLowerCase()} ${toOpenApiPath(path)}`,
    );
    expect(
      operations()
        .map(({ method, path }) => `${method} ${path}`)
        .sort(),
    ).toEqual(offered.sort());
    const ids = operations().map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('declares every path parameter, and no other', () => {
    for (const { path, operation } of operations()) {
      const declared = operation.parameters.filter((parameter) => parameter.in === 'path');
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      expect(
        declared.map(({ name }) => name),
        path,
      ).toEqual(inPath);
      expect(
        declared.every(({ required }) => required),
        path,
      ).toBe(true);
    }
  });

  it('says of every operation what key it needs, and what it says without one', () => {
    for (const { path, method, operation } of operations()) {
      // A code takes the place of a key.
      const isOpen = operation.security.length === 0 && path !== '/sessions/redeem';
      expect(Object.hasOwn(operation.responses, '401'), `${method} ${path}`).toBe(!isOpen);
    }
    const open = operations().filter(({ operation }) => operation.security.length === 0);
    expect(open.map(({ path }) => path).sort()).toEqual([
      '/metrics',
      '/openapi.json',
      '/ping',
      '/sessions/redeem',
    ]);
  });

  it('says of every operation that goes to the leader what it answers without one', () => {
    const without = (status: string): string[] =>
      operations()
        .filter(({ operation }) => !Object.hasOwn(operation.responses, status))
        .map(({ path }) => path);
    expect([without('502'), without('503')]).toEqual([
      ['/ping', '/metrics', '/node', '/node/config', '/node/reload', '/node/stop', '/openapi.json'],
      ['/ping', '/metrics', '/openapi.json'],
    ]);
  });

  it('holds schemas that are valid, and examples that match them', () => {
    const { schemas } = document().components;
    const ajv = new Ajv2020({ strict: true, strictTypes: false, keywords: ['components'] });
    ajvFormats.default(ajv);
    ajv.addSchema({ $id: 'document', components: { schemas } });
    let examples = 0;
    for (const [name, { examples: given = [] }] of Object.entries(schemas)) {
      const validate = ajv.getSchema(`document#/components/schemas/${name}`);
      for (const example of Array.isArray(given) ? given : []) {
        examples++;
        expect(validate?.(example), `${name}: ${ajv.errorsText(validate?.errors)}`).toBe(true);
      }
    }
    expect(examples).toBeGreaterThan(1);
  });

  it('describes every operation, parameter and field', () => {
    const bare: string[] = [];
    const look = (value: unknown, place: string): void => {
      if (typeof value !== 'object' || value === null) return;
      for (const [key, inner] of Object.entries(value)) {
        if (key === 'examples' || key === 'default') continue;
        if (key === 'properties' && !place.endsWith('.properties'))
          for (const [field, schema] of Object.entries(inner))
            if (!Object.hasOwn(Object(schema), 'description')) bare.push(`${place}: ${field}`);
        look(inner, `${place}.${key}`);
      }
    };
    look(JSON.parse(description), '');
    for (const { method, path, operation } of operations()) {
      if (operation.description === undefined) bare.push(`${method} ${path}`);
      for (const { name, description: words } of operation.parameters)
        if (words === undefined) bare.push(`${method} ${path}: parameter ${name}`);
    }
    expect(
      bare,
      'give the schema of each a .describe(), or its name words in openapi/field-words.ts',
    ).toEqual([]);
  });

  it('holds nothing that generators stumble over', () => {
    const { info, servers } = JSON.parse(description);
    expect(info).toMatchObject({ license: { identifier: 'Apache-2.0' }, contact: expect.anything() });
    const [{ url, variables }] = servers;
    const filled = url.replace(/\{(\w+)\}/g, (_: string, name: string) => variables[name].default);
    expect(filled).toBe('http://127.0.0.1:7000/api');
    expect(description).not.toContain('"default": null');
    expect(description).not.toMatch(/"pattern": ".*\\\\\//);
    const { ConfigurationInput, Instance } = JSON.parse(description).components.schemas;
    expect(ConfigurationInput.required).toEqual(['command']);
    expect(Instance.properties.id).toMatchObject({ minLength: 6, maxLength: 6 });
  });

  // The engine of `redocly lint`: 14 packages, where the command has 180. .ci/run has Spectral look at it, too.
  it('is clean under the strict rules of Redocly', async () => {
    const config = await createConfig({ extends: ['recommended-strict'] });
    const problems = await lint({ ref: DOCUMENT_FILE, config });
    expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
  });

  it('cannot be made of a route without a name', () => {
    const [route] = world.server.routes;
    if (route === undefined) throw new Error('there are no routes');
    expect(() => describeApi({ routes: [{ ...route, path: '/ping/more' }], sockets: [] })).toThrow(
      'GET /ping/more has no operation id',
    );
  });
});

describe('the check of answers', () => {
  const check = () => new OpenApiCheck(document());
  const answer = { method: 'GET', url: '/api/ping', status: 200, contentType: 'application/json' };
  const body = JSON.stringify({ status: 'ok', nodeId: 'n1', clusterName: 'c', master: true, leader: null });

  it('passes an answer that is as declared', () => {
    expect(check().problemOf({ ...answer, body })).toBeUndefined();
    expect(check().problemOf({ ...answer, method: 'HEAD', body: '' })).toBeUndefined();
    expect(
      check().problemOf({ ...answer, url: '/api/nope', status: 404, body: '{"error":"no","code":"DRV_X"}' }),
    ).toBeUndefined();
  });

  it.each([
    ['a status that is not declared', { status: 201, body }, 'the status is not declared for ping'],
    ['a fault', { status: 500, body: '{"error":"x"}' }, 'the status is not declared for ping'],
    ['another content type', { contentType: 'text/html', body }, 'content type text/html is not declared'],
    ['a missing field', { body: '{"status":"ok"}' }, "must have required property 'nodeId'"],
    ['a field of another type', { body: body.replace('true', '"yes"') }, 'data/master must be boolean'],
    ['a field that nobody declared', { body: body.replace('{', '{"more":1,') }, 'must NOT have additional'],
    ['an error in another form', { status: 429, body: '{"error":"x"}' }, "required property 'retryAfterMs'"],
    ['success where there is nothing', { url: '/api/nope', body }, 'no operation declares it'],
    [
      'a body where none is declared',
      { method: 'DELETE', url: '/api/configurations/x', status: 204, body },
      'a body is not declared',
    ],
  ])('notices %s', (_what, change, problem) => {
    expect(check().problemOf({ ...answer, ...change })).toContain(problem);
  });

  it('sees every answer of a server under test, and fails it at its end', async () => {
    const broken = await new ApiWorld().start();
    await broken.server.start();
    await broken.putInstance(instanceRecord({ id: 'aaaaaa' }));
    broken.logs = { lines: [], totalLines: 1.5 };
    await (await broken.call('GET', '/instances/aaaaaa/logs')).text();
    await expect(broken.stop()).rejects.toThrow(
      'GET /api/instances/aaaaaa/logs: 200: the body does not match: data/totalLines must be integer',
    );
  });
});
