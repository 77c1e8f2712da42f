/**
 * The errors for unknown names and ids. The store, the explanations and the API throw them. A message repeats only a
 * well-formed name, because a client may have typed anything.
 */
import { DroverError } from './errors.js';
import { isInstanceId, nameSchema } from './names.js';

export function unknownConfiguration(name: string): DroverError {
  const which = isName(name) ? `configuration "${name}"` : 'such configuration';
  return new DroverError(
    'DRV_CONFIGURATION_UNKNOWN',
    `there is no ${which}: GET /api/configurations lists them`,
  );
}

export function unknownInstance(id: string): DroverError {
  const which = isInstanceId(id) ? `instance "${id}"` : 'such instance';
  return new DroverError('DRV_INSTANCE_UNKNOWN', `there is no ${which}: GET /api/instances lists them`);
}

/** The record of the instance exists, but is set aside because it cannot be read. `problem`: what is wrong with it. */
export function unreadableInstance(id: string, problem: string): DroverError {
  return new DroverError(
    'DRV_INSTANCE_UNKNOWN',
    `the record of instance ${id} cannot be read (${problem}): it is kept as it is, and what runs of it is left alone. A DELETE of the instance removes both`,
  );
}

export function unknownNode(id: string): DroverError {
  const which = isName(id) ? `node "${id}"` : 'such node';
  return new DroverError('DRV_NODE_UNKNOWN', `there is no ${which}: GET /api/cluster/nodes lists them`);
}

function isName(text: string): boolean {
  return nameSchema.safeParse(text).success;
}
