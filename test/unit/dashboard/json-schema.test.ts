import { expect, it } from 'vitest';
import { fieldsAt, type SchemaSource, valuesAt } from '../../../src/dashboard/parts/editor/json-schema.js';

const source: SchemaSource = {
  root: {
    type: 'object',
    required: ['command'],
    properties: {
      command: { type: 'string' },
      ramMB: { type: 'integer', minimum: 1, maximum: 64, default: 8 },
      placement: { type: 'string', enum: ['spread', 'pack'] },
      ports: { $ref: '#/components/schemas/PortRange' },
      list: { type: 'array', items: { $ref: '#/components/schemas/PortRange' } },
      port: { anyOf: [{ type: 'integer' }, { type: 'string', const: '%PORT%' }] },
      static: { type: 'boolean' },
      environment: { type: 'object', additionalProperties: { type: 'string', default: 'x' } },
    },
  },
  named: {
    PortRange: { type: 'object', properties: { min: { type: 'integer' }, max: { type: 'integer' } } },
  },
};
const names = (path: readonly (string | number)[], present: readonly string[] = []): string[] =>
  fieldsAt(source, path, new Set(present)).map(({ label }) => label);
const values = (...path: (string | number)[]): string[] => valuesAt(source, path).map(({ text }) => text);

it('offers fields that are not there yet, with a first value of their kind', () => {
  expect(names([], ['command', 'list', 'port', 'static', 'environment'])).toEqual([
    'ramMB',
    'placement',
    'ports',
  ]);
  const [command, ramMB, placement] = fieldsAt(source, [], new Set());
  expect(command).toMatchObject({ text: '"command": ""', detail: 'string, required' });
  expect(ramMB).toMatchObject({ text: '"ramMB": 8', detail: 'integer, 1 to 64, default 8' });
  expect(placement).toMatchObject({ text: '"placement": "spread"' });
});

it('follows names, lists and free keys', () => {
  expect(names(['ports'])).toEqual(['min', 'max']);
  expect(names(['list', 0])).toEqual(['min', 'max']);
  expect(values('environment', 'ANY')).toEqual(['"x"']);
  expect(names(['nothing', 'below'])).toEqual([]);
});

it('offers values', () => {
  expect(values('placement')).toEqual(['"spread"', '"pack"']);
  expect(values('static')).toEqual(['true', 'false']);
  expect(values('port')).toEqual(['"%PORT%"']);
});
