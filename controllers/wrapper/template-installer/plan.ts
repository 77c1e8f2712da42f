/**
 * The installer's decisions: before the supervisor may start an instance, give it a complete working directory,
 * made from exactly the template digests that the master named.
 */
import type { Plan } from '../../../src/loop/reconciler.js';
import type { ResolvedTemplate } from '../../../src/model/template.js';
import type { Desired } from '../../../src/node/desired-copy.js';
import type { Handle } from '../../../src/node/handle-book.js';
import { isFinished } from '../process-supervisor/goal.js';

export interface InstallerFacts {
  readonly id: string;
  readonly desired: Desired | undefined;
  readonly handle: Handle;
  readonly isNodeStopping: boolean;
  /** Digests of desired templates that the cache lacks. */
  readonly missingDigests: readonly string[];
}

export type InstallerStep =
  /** Note that the master has no such template (yet), and why. */
  | { readonly do: 'note-missing'; readonly templates: readonly string[]; readonly message: string }
  /** Bring one tree into the cache, whole and verified. */
  | { readonly do: 'fetch'; readonly digest: string }
  /** Make the working directory for the next start, all or nothing. */
  | { readonly do: 'install' };

export function plan(facts: InstallerFacts, now: number): Plan<InstallerStep> {
  const { desired, handle } = facts;
  if (desired === undefined || desired.assignment.goal !== 'run' || facts.isNodeStopping)
    return { steps: [] };
  const isRestartPending = handle.restartToken !== desired.assignment.restartToken;
  const isOccupied =
    handle.process !== null || handle.isStarting || handle.hasRemains || handle.stopping !== null;
  if (handle.isPrepared || isOccupied || isRestartPending || isFinished(facts, handle)) return { steps: [] };

  const missing = desired.assignment.templates.filter(({ digest }) => digest === null);
  if (missing.length > 0) {
    const templates = missing.map(({ group, name }) => `${group}/${name}`);
    const message = explainMissing(missing);
    const isNoted = handle.problem?.reason === 'template-missing' && handle.problem.message === message;
    return { steps: isNoted ? [] : [{ do: 'note-missing', templates, message }] };
  }
  const isMissingOver = handle.problem?.reason === 'template-missing';
  if (handle.notBefore !== null && handle.notBefore > now && !isMissingOver)
    return { steps: [], recheckInMs: handle.notBefore - now };
  const [digest] = facts.missingDigests;
  return { steps: [digest === undefined ? { do: 'install' } : { do: 'fetch', digest }] };
}

/** The master's own words, where it has any. */
function explainMissing(missing: readonly ResolvedTemplate[]): string {
  const explained = missing.flatMap(({ problem }) => problem ?? []);
  const absent = missing.filter(({ problem }) => problem === undefined);
  const names = absent.map(({ group, name }) => `${group}/${name}`);
  return [...explained, ...(names.length === 0 ? [] : [missingMessage(names)])].join('; ');
}

/** The operator's message when the master has no such template. */
export function missingMessage(templates: readonly string[]): string {
  const [first] = templates;
  return templates.length === 1
    ? `template ${first} cannot be used: the master has no usable templates/${first}`
    : `templates ${templates.join(', ')} cannot be used: the master has no usable directories of these names`;
}
