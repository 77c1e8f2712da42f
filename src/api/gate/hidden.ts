/** Hides the object in the path from a key that is restricted to other configurations. Pure. The gate uses it. */

import { type Access, strangeName } from '../../access/access.js';
import { DroverError, invalidRequest } from '../../model/errors.js';
import { unknownConfiguration, unknownInstance } from '../../model/unknown.js';
import type { Reach } from '../http/route.js';

/**
 * The answer when the caller does not see the object in the path; undefined: the caller sees it. `configurationOf`:
 * the configuration of an instance, undefined when there is no such instance.
 */
export function hiddenBy(
  access: Access,
  reach: Exclude<Reach, 'filtered'>,
  { params }: { readonly params: unknown },
  configurationOf: (instanceId: string) => string | undefined,
): DroverError | undefined {
  switch (reach) {
    case 'instance':
    case 'bad-instance': {
      const id = textOf(params, 'id');
      const name = configurationOf(id);
      if (name !== undefined && access.sees(name)) return undefined;
      const unknown = unknownInstance(id);
      return reach === 'instance' ? unknown : invalidRequest(unknown.message);
    }
    case 'configuration':
    case 'new-configuration': {
      const name = textOf(params, 'name');
      if (access.sees(name)) return undefined;
      if (reach === 'configuration') return unknownConfiguration(name);
      return new DroverError('DRV_CONFIGURATION_REFUSED', strangeName(access, name));
    }
  }
}

function textOf(params: unknown, field: 'id' | 'name'): string {
  if (params === null || typeof params !== 'object') return '';
  const value: unknown = Reflect.get(params, field);
  return typeof value === 'string' ? value : '';
}
