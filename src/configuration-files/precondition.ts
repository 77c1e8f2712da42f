/** What must be true of a configuration before it is written or removed, so that nobody's change is overwritten unseen. */
import { DroverError } from '../model/errors.js';

/** `existing`: there is one; with revisions, one of these. `absent`: there is none. */
export type Precondition =
  | { readonly is: 'absent' }
  | { readonly is: 'existing'; readonly revisions?: readonly string[] };

/** `revision`: of what is there; undefined: there is none. Throws DRV_CONFIGURATION_CHANGED. */
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
