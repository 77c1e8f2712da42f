/**
 * The committed JSON Schema is the one that is made from the schema of configurations, and says of each field what the
 * manual says. Write both anew: `npm run openapi`.
 */
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { expect, it } from 'vitest';
import { configurationJsonSchema } from '../../../src/configuration-files/json-schema.js';
import { validateConfiguration } from '../../../src/configuration-files/parse.js';
import { fieldDescriptions } from '../../support/repository/field-descriptions.js';
import { REPOSITORY } from '../../support/repository-root.js';

const FILE = join(REPOSITORY, 'manifests', 'configuration.schema.json');
const DESCRIPTIONS = join(REPOSITORY, 'src', 'configuration-files', 'field-descriptions.ts');

it('describes each field as the manual does', async () => {
  const lines = [...fieldDescriptions()].map(([field, text]) => `${field}: ${text}\n`);
  await expect(
    `/** The manual's words for each field, for the schema of editors. Written by \`npm run openapi\` from the tables of docs/. */\n\nexport const FIELD_DESCRIPTIONS = \`\n${lines.join('')}\`;\n`,
  ).toMatchFileSnapshot(DESCRIPTIONS);
});

it('is committed as the schema says it', async () => {
  await expect(`${JSON.stringify(configurationJsonSchema(), null, 2)}\n`).toMatchFileSnapshot(FILE);
});

it('asks for no field that has a default, and knows $schema, of which Drover says nothing', () => {
  const schema = configurationJsonSchema();
  expect(schema.anyOf).toEqual([{ required: ['command'] }, { required: ['extends'] }]);
  expect(schema.properties).toHaveProperty('$schema');
  expect(validateConfiguration('a', { $schema: 'x', command: 'run' }).warnings).toEqual([]);
});

type Rule = Readonly<Record<string, unknown>>;

/** Every rule of an object in the schema, with its path. */
function* objectsIn(rule: Rule, path: string): Generator<readonly [path: string, rule: Rule]> {
  const { properties, items } = rule;
  if (properties !== undefined) yield [path, rule];
  for (const [key, one] of Object.entries(properties ?? {})) yield* objectsIn(one, `${path}.${key}`);
  if (items !== undefined) yield* objectsIn(items as Rule, `${path}[]`);
}

it('refuses unknown fields and describes known ones, at every level', () => {
  const objects = [...objectsIn(configurationJsonSchema(), '')];
  expect(objects.map(([path]) => path)).toContain('.readiness.httpGet');
  for (const [path, { additionalProperties, properties }] of objects) {
    expect([path, additionalProperties]).toEqual([path, false]);
    for (const [key, one] of Object.entries(properties ?? {}))
      expect([`${path}.${key}`, one.description]).toEqual([`${path}.${key}`, expect.stringMatching(/./)]);
  }
});

it.each([
  [
    true,
    { command: 'x', $comment: [1], update: { $comment: 'y' }, environmentVariables: { $comment: 1, A: 'b' } },
  ],
  [true, { extends: 'base/a.json' }],
  [true, { command: 'x', maximumServiceCount: 0, minimumServiceCount: 0 }],
  [true, { command: 'x', update: { maxSurge: 0, maxUnavailable: 1 } }],
  [false, { minimumServiceCount: 1 }],
  [false, { command: 'x', minServiceCount: 1 }],
  [false, { command: 'x', availablePorts: { min: 1, max: 2, mex: 3 } }],
  [false, { command: 'x', environmentVariables: { '1a': 'b' } }],
  [false, { command: 'x', maximumServiceCount: 0 }],
  [false, { command: 'x', update: { maxSurge: '0%', maxUnavailable: 0 } }],
  [false, { command: 'x', update: { maxSurge: 0 } }],
])('says %s to %j, as Drover does', (isValid, content) => {
  const validate = new Ajv({ strict: false }).compile(configurationJsonSchema());
  expect(validate(content)).toBe(isValid);
});
