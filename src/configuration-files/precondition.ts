/** The condition under which a configuration is written or removed, so that no change is overwritten unseen. */
import { DroverError } from '../model/errors.js';

/**
 * `existing`: the configuration must exist, and if `revisions` are given, at one of them. `absent`: it must
 * not exist.
 */
export type Precondition =
  | { readonly is: 'absent' }
  | { readonly is: 'existing'; readonly revisions?: readonly string[] };

/**
 * Checks the condition. `revision`: the present revision of the configuration; undefined: it does not exist.
 * Throws DRV_CONFIGURATION_CHANGED.
 */
export function requireRevision(
  name: string,
  revision: string | undefined,
  precondition: Precondition,
): void {
  const fault = faultOf(revision, precondition);
  if (fault !== undefined)
    throw new DroverError('DRV_CONFIGURATION_CHANGED', `configuration "${name}" ${fault}`);
}

function faultOf(revision: string | undefined, precondition: Precondition): string | undefined {
  if (precondition.is === 'absent')
    return revision === undefined ? undefined : 'was made meanwhile, or was there before';
  if (revision === undefined) return 'was removed meanwhile, or was never there';
  if (precondition.revisions?.includes(revision) === false)
    return `was changed meanwhile: its revision is ${revision} now`;
  return undefined;
}
