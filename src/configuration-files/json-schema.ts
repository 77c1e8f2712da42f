/** The JSON Schema of a configuration file, for editors and checks outside Drover. Made from the schema that judges files. */
import { z } from 'zod';
import { configurationSchema } from '../model/configuration.js';
import { fieldOf, isObject } from '../model/json-object.js';
import { EXTENDS } from './extends.js';
import { FIELD_DESCRIPTIONS } from './field-descriptions.js';
import { REMARK } from './remarks.js';

type JsonSchema = Readonly<Record<string, unknown>>;

const DESCRIPTIONS: ReadonlyMap<string, string> = new Map(
  FIELD_DESCRIPTIONS.trim()
    .split('\n')
    .map((line) => {
      const colon = line.indexOf(': ');
      return [line.slice(0, colon), line.slice(colon + 2)] as const;
    }),
);
const REMARK_RULE = { description: DESCRIPTIONS.get(REMARK) };
const NOTHING = { enum: [0, '0%'] };

/**
 * The JSON Schema. It describes each field, and refuses unknown ones at every level. It checks less than Drover does: it
 * leaves out most rules between fields, and rules for file names.
 */
export function configurationJsonSchema(): JsonSchema {
  const rules = z.toJSONSchema(configurationSchema, {
    io: 'input',
    unrepresentable: 'any',
    target: 'draft-7',
  });
  const own = closed({ ...rules, properties: { ...rules.properties, [EXTENDS]: { type: 'string' } } }, '');
  return {
    ...own,
    title: 'Drover configuration',
    properties: {
      $schema: { type: 'string', description: DESCRIPTIONS.get('$schema') },
      ...Object.fromEntries(Object.entries(fieldOf(own, 'properties') ?? {})),
    },
    required: [],
    // `name` is optional: the name of the file stands for it. What a file extends may have the command.
    anyOf: [{ required: ['command'] }, { required: [EXTENDS] }],
    // No maximum below the minimum, where that can be said: JSON Schema compares no two fields.
    allOf: [
      {
        anyOf: [
          { not: { properties: { maximumServiceCount: { const: 0 } }, required: ['maximumServiceCount'] } },
          {
            properties: { minimumServiceCount: { const: 0 } },
            anyOf: [{ required: ['minimumServiceCount'] }, { required: [EXTENDS] }],
          },
        ],
      },
    ],
  };
}

/** The rule of the field at `path`, with descriptions, and without fields that nobody knows. */
function closed(rule: unknown, path: string): JsonSchema {
  const { properties, propertyNames, additionalProperties, items, anyOf, ...rest } = rule as JsonSchema;
  const description = DESCRIPTIONS.get(path);
  const inside = (key: string): string => (path === '' ? key : `${path}.${key}`);
  const pattern = fieldOf(propertyNames, 'pattern');
  return {
    ...(description !== undefined && { description }),
    ...rest,
    ...(isObject(properties) && {
      properties: {
        [REMARK]: REMARK_RULE,
        ...Object.fromEntries(
          Object.entries(properties).map(([key, one]) => [key, closed(one, inside(key))]),
        ),
      },
      additionalProperties: false,
    }),
    ...(typeof pattern === 'string' && {
      properties: { [REMARK]: REMARK_RULE },
      patternProperties: {
        [pattern]: isObject(additionalProperties) ? closed(additionalProperties, path) : additionalProperties,
      },
      additionalProperties: false,
    }),
    ...(isObject(items) && { items: closed(items, path) }),
    ...(anyOf !== undefined && { anyOf }),
    ...(path === 'update' && {
      not: { properties: { maxSurge: NOTHING, maxUnavailable: NOTHING }, required: ['maxSurge'] },
    }),
  };
}
