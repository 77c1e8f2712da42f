/** Decides what a key lacks for a route, and words the refusal. Pure. The gate uses it. */

import type { Access, KeyAccess } from '../../access/access.js';
import { DroverError } from '../../model/errors.js';
import { nameSchema } from '../../model/names.js';
import { unknownConfiguration, unknownInstance } from '../../model/unknown.js';
import type { Reach, Scope } from '../http/route.js';

/** The demands of the route, and the circumstances of the call. */
interface Wanted {
  readonly scope: Exclude<Scope, 'open'>;
  readonly reach: Reach | undefined;
  /** The time in Unix milliseconds. */
  readonly now: number;
  readonly address: string;
}

/** Why a caller is refused. */
export interface Refusal {
  /** The text of a 403. Absent: the answer is 401, as when no key was sent. */
  readonly forbidden?: string;
  /** The text in the challenge of a 401. */
  readonly hint?: string;
}

/** Why the access is not enough for a route; undefined: it is enough. A call that passes allocates nothing. */
export function refusalOf(access: KeyAccess, { scope, reach, now, address }: Wanted): Refusal | undefined {
  const { grant } = access;
  if (access.isOver(now)) return { hint: access.overText };
  if (!access.isFrom(address))
    // The allowed addresses are not named, because they would show a thief of the key where to go.
    return { forbidden: `key ${access.label} may not be used from ${address}` };
  const least = scope === 'instance-or-OPERATE' ? 'OPERATE' : scope;
  if (!access.may(least)) {
    const forbidden = `${callerText(access)} has scope ${grant.scope}: this needs ${least}`;
    return grant.scope === 'PUBLIC' ? {} : { forbidden };
  }
  if (access.configurations === null || reach !== undefined) return undefined;
  return {
    forbidden: `${restrictionText(access)}: this endpoint concerns more than these, and needs a key without that restriction`,
  };
}

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
      return reach === 'instance' ? unknown : new DroverError('DRV_REQUEST_INVALID', unknown.message);
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

/** The caller, such as `key ci` or `session 0123456789ab of ci`. */
export function callerText({ session, name }: Access): string {
  return session === null ? `key ${name}` : name;
}

function restrictionText(access: Access): string {
  return `${callerText(access)} is restricted to configurations ${access.configurations?.join(', ')}`;
}

/** Why the access does not reach a configuration. It repeats the name only when it is well-formed. */
export function strangeName(access: Access, name: string): string {
  const which = nameSchema.safeParse(name).success ? `"${name}" is none of these` : 'this is none of these';
  return `${restrictionText(access)}: ${which}`;
}

function textOf(params: unknown, field: 'id' | 'name'): string {
  if (params === null || typeof params !== 'object') return '';
  const value: unknown = Reflect.get(params, field);
  return typeof value === 'string' ? value : '';
}
