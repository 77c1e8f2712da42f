/** The committed JSON Schema is the one that is made from the schema of configurations. Write it anew: `npm run openapi`. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { configurationJsonSchema } from '../../../src/configuration-files/json-schema.js';
import { validateConfiguration } from '../../../src/configuration-files/parse.js';
import { REPOSITORY } from '../../support/repository-root.js';

const FILE = join(REPOSITORY, 'manifests', 'configuration.schema.json');

it('is committed as the schema says it', async () => {
  await expect(`${JSON.stringify(configurationJsonSchema(), null, 2)}\n`).toMatchFileSnapshot(FILE);
});

it('asks for no field that has a default, and knows $schema, of which Drover says nothing', () => {
  const schema = configurationJsonSchema();
  expect(schema.required).toEqual(['command']);
  expect(schema.properties).toHaveProperty('$schema');
  expect(validateConfiguration('a', { $schema: 'x', command: 'run' }).warnings).toEqual([]);
});
