/** The text of a file for a configuration that another master's file, or the API, has brought. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { type Configuration, configurationSchema } from '../model/configuration.js';
import { DroverError } from '../model/errors.js';
import { validateConfiguration } from './parse.js';

/**
 * The text of a file for this configuration, without fields at their defaults. Throws DRV_CONFIGURATION_INVALID when
 * that text would not have the hash `hash`: another version of Drover wrote the record.
 */
export function textOfRecord(configuration: Configuration, hash: string): string {
  const { name, command } = configuration;
  const defaults: object = configurationSchema.parse({ name, command });
  const entries = Object.entries(configuration).filter(
    ([field, value]) =>
      field === 'name' || field === 'command' || !isDeepStrictEqual(value, Reflect.get(defaults, field)),
  );
  for (const content of [Object.fromEntries(entries), configuration]) {
    if (hashOf(name, content) === hash) return `${JSON.stringify(content, null, 2)}\n`;
  }
  throw new DroverError(
    'DRV_CONFIGURATION_INVALID',
    `configuration "${name}" comes from another version of Drover, and cannot be written as a file here`,
  );
}

function hashOf(name: string, content: unknown): string | undefined {
  try {
    return validateConfiguration(name, content).hash;
  } catch {
    return undefined;
  }
}
