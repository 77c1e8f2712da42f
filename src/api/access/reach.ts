/** What a key that is restricted to configurations reaches of a route. Used by the gate. */
import { statusOfCode } from '../../model/errors.js';
import { nameSchema } from '../../model/names.js';
import { unknownConfiguration, unknownInstance } from '../../model/unknown.js';
import type { Reach } from '../http/route.js';
import type { Access } from './access.js';

/** The answer about something that the key does not see. */
export interface Hidden {
  readonly status: number;
  readonly message: string;
}

/** True when the route is open to the access at all: it has no restriction, or the route knows how to keep it. */
export function isWithin({ configurations }: Access, reach: Reach | undefined): boolean {
  return configurations === null || reach !== undefined;
}

/** Undefined: the access sees what the path names. `configurationOf`: of an instance, undefined when there is none. */
export function hiddenBy(
  access: Access,
  reach: Exclude<Reach, 'filtered'>,
  { params }: { readonly params: unknown },
  configurationOf: (instanceId: string) => string | undefined,
): Hidden | undefined {
  switch (reach) {
    case 'instance':
    case 'bad-instance': {
      const id = textOf(params, 'id');
      const name = configurationOf(id);
      if (name !== undefined && access.sees(name)) return undefined;
      const { message } = unknownInstance(id);
      return { status: reach === 'instance' ? statusOfCode('DRV_INSTANCE_UNKNOWN') : 400, message };
    }
    case 'configuration':
    case 'new-configuration': {
      const name = textOf(params, 'name');
      if (access.sees(name)) return undefined;
      if (reach === 'new-configuration') return { status: 403, message: strangeName(access, name) };
      const { message } = unknownConfiguration(name);
      return { status: statusOfCode('DRV_CONFIGURATION_UNKNOWN'), message };
    }
  }
}

/** Repeats the name only when it is well-formed. */
function strangeName({ label, configurations }: Access, name: string): string {
  const which = nameSchema.safeParse(name).success ? `"${name}" is none of these` : 'this is none of these';
  return `key ${label} is restricted to configurations ${configurations?.join(', ')}: ${which}`;
}

function textOf(params: unknown, field: 'id' | 'name'): string {
  if (params === null || typeof params !== 'object') return '';
  const value: unknown = Reflect.get(params, field);
  return typeof value === 'string' ? value : '';
}
