/** The JSON Schema of a configuration file, for editors and checks outside Drover. Made from the schema that judges files. */
import { z } from 'zod';
import { configurationSchema } from '../model/configuration.js';

type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * The JSON Schema. It checks less than Drover does: it leaves out rules between fields, and rules for file
 * names.
 */
export function configurationJsonSchema(): JsonSchema {
  const rules = z.toJSONSchema(configurationSchema, {
    io: 'input',
    unrepresentable: 'any',
    target: 'draft-7',
  });
  return {
    ...rules,
    title: 'Drover configuration',
    properties: { $schema: { type: 'string' }, ...rules.properties },
    // `name` is optional: the name of the file stands for it.
    required: (rules.required ?? []).filter((field) => field !== 'name'),
  };
}
