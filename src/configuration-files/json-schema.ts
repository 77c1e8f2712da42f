/** The JSON Schema of a configuration file, for editors and checks outside Drover. Made from the schema that judges files. */
import { z } from 'zod';
import { newConfigurationSchema } from '../model/configuration.js';

type JsonSchema = Readonly<Record<string, unknown>>;

/** It says less than Drover's own check: rules between fields, and of the names of files, are not in it. */
export function configurationJsonSchema(): JsonSchema {
  const rules = z.toJSONSchema(newConfigurationSchema, {
    io: 'input',
    unrepresentable: 'any',
    target: 'draft-7',
  });
  return {
    ...rules,
    title: 'Drover configuration',
    properties: { $schema: { type: 'string' }, ...rules.properties },
    // The name of the file stands for it.
    required: (rules.required ?? []).filter((field) => field !== 'name'),
  };
}
