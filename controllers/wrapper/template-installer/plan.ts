/**
 * The installer's decisions: before the supervisor may start an instance, give it a complete working directory. The
 * directory is made from exactly the template digests that the master named. A restart that nobody asked for, as
 * after a crash, uses the trees of the last install when newer ones cannot be had.
 */
import type { Plan } from '../../../src/loop/reconciler.js';
import type { ResolvedTemplate } from '../../../src/model/template.js';
import type { Desired } from '../../../src/node/desired-copy.js';
import type { Down, Handle, Problem } from '../../../src/node/handle.js';
import { isFinished, isForFormerPort } from '../process-supervisor/goal.js';
import { owedHook } from '../process-supervisor/hooks.js';

export interface InstallerFacts {
  readonly id: string;
  readonly desired: Desired | undefined;
  readonly handle: Handle;
  readonly isNodeStopping: boolean;
  /** Why secrets are not here, one text each. */
  readonly missingSecrets: readonly string[];
  /** Digests of desired templates that the cache lacks. */
  readonly missingDigests: readonly string[];
  /** True when the cache has every tree of the last install. */
  readonly isLastInstallCached: boolean;
  readonly isMasterConnected: boolean;
  /** True while a tree is fetched for this instance. */
  readonly isFetching: boolean;
}

type Missing = 'template-missing' | 'secret-missing';

export type InstallerStep =
  /** Note why templates or secrets are not available. The instance is woken when they are. */
  | { readonly do: 'note-missing'; readonly reason: Missing; readonly message: string }
  /** Bring one tree into the cache, whole and verified. */
  | { readonly do: 'fetch'; readonly digest: string }
  /** Discard the prepared working directory, because a template has changed before the start came. */
  | { readonly do: 'discard-install' }
  /** Make the working directory for the next start, all or nothing. */
  | {
      readonly do: 'install';
      readonly templates: readonly ResolvedTemplate[];
      /**
       * Why these templates are not the newest that the node knows of, in words for the operator; null: they are the
       * newest.
       */
      readonly behind: string | null;
    };

export function plan(facts: InstallerFacts, now: number): Plan<InstallerStep> {
  const { desired, handle } = facts;
  if (desired === undefined || desired.assignment.goal !== 'run' || facts.isNodeStopping)
    return { steps: [] };
  const { phase } = handle;
  const isRestartPending = handle.restartToken !== desired.assignment.restartToken;
  if (phase.is !== 'down' || isRestartPending || isFinished(facts, handle)) return { steps: [] };
  // The files are those of the run that has ended until its hooks are done.
  if (owedHook(facts, handle) !== undefined) return { steps: [] };
  const { templates } = desired.assignment;
  switch (phase.directory) {
    case 'prepared':
      return {
        steps:
          isForFormerPort(desired.assignment, handle) || isOutdated(facts, templates)
            ? [{ do: 'discard-install' }]
            : [],
      };
    case 'stale':
    case 'cleared':
      return planInstall(facts, phase, templates, now);
    default:
      return phase.directory satisfies never;
  }
}

function planInstall(
  facts: InstallerFacts,
  { next }: Down,
  templates: readonly ResolvedTemplate[],
  now: number,
): Plan<InstallerStep> {
  const { handle, missingDigests, missingSecrets } = facts;
  if (missingSecrets.length > 0)
    return { steps: noteMissing(next.problem, 'secret-missing', missingSecrets.join('; ')) };
  const awaited = templates.filter((template) => isAwaited(template, handle));
  const unfetched = templates.filter(({ digest }) => digest !== null && missingDigests.includes(digest));
  const last = repeatable(facts, templates);
  const hasNone = awaited.length > 0 || (unfetched.length > 0 && !facts.isMasterConnected);
  const why = awaited.length > 0 ? explainAwaited(awaited) : unfetchedMessage(namesOf(unfetched));
  if (last === undefined && hasNone) return { steps: noteMissing(next.problem, 'template-missing', why) };
  if (next.delay !== null && next.delay.until > now && !isProblemOver(next.problem, missingDigests))
    return { steps: [], recheckInMs: next.delay.until - now };
  const [digest] = missingDigests;
  if (awaited.length === 0 && digest === undefined)
    return { steps: [{ do: 'install', templates, behind: null }] };
  if (last === undefined)
    return { steps: digest === undefined || facts.isFetching ? [] : [{ do: 'fetch', digest }] };
  const behind = `runs with the files of its last install: ${explainBehind(facts, awaited, unfetched)}`;
  return { steps: [{ do: 'install', templates: last, behind }] };
}

/**
 * True when the installer must wait for the master before it can install this template. While the master looks for a
 * newer tree, only a requested start waits.
 */
function isAwaited({ digest, problem }: ResolvedTemplate, handle: Handle): boolean {
  return digest === null || (problem !== undefined && !isUnasked(handle));
}

/** True when the next start follows a crash or a start of the node: no restart was asked for since the last install. */
function isUnasked({ installed, restartToken }: Handle): boolean {
  return installed !== null && installed.restartToken === restartToken;
}

/** The templates of the last install, if the next start may use them again. */
function repeatable(
  { handle, isLastInstallCached }: InstallerFacts,
  templates: readonly ResolvedTemplate[],
): readonly ResolvedTemplate[] | undefined {
  if (handle.installed === null || !isUnasked(handle) || !isLastInstallCached) return undefined;
  const last = handle.installed.templates;
  return namesOf(last).join() === namesOf(templates).join() ? last : undefined;
}

/**
 * True when the prepared directory was made from other trees than the start needs, and the needed trees are all in
 * the cache.
 */
function isOutdated(
  { handle, missingDigests }: InstallerFacts,
  templates: readonly ResolvedTemplate[],
): boolean {
  if (handle.installed === null || missingDigests.length > 0) return false;
  if (templates.some(({ digest, problem }) => digest === null || problem !== undefined)) return false;
  return digestsOf(templates) !== digestsOf(handle.installed.templates);
}

/**
 * True when the noted problem no longer delays the install: the missing tree has arrived by another fetch, or is no
 * longer wanted.
 */
function isProblemOver(problem: Problem | null, missingDigests: readonly string[]): boolean {
  if (problem?.reason === 'template-missing') return true;
  return problem?.digest !== undefined && !missingDigests.includes(problem.digest);
}

function noteMissing(problem: Problem | null, reason: Missing, message: string): InstallerStep[] {
  const isNoted = problem?.reason === reason && problem.message === message;
  return isNoted ? [] : [{ do: 'note-missing', reason, message }];
}

/** Why templates are missing, in the master's own words if the master gave a reason. */
function explainAwaited(missing: readonly ResolvedTemplate[]): string {
  const explained = missing.flatMap(({ problem }) => problem ?? []);
  const absent = missing.filter(({ problem }) => problem === undefined);
  return [...explained, ...(absent.length === 0 ? [] : [missingMessage(namesOf(absent))])].join('; ');
}

function explainBehind(
  { isMasterConnected }: InstallerFacts,
  awaited: readonly ResolvedTemplate[],
  unfetched: readonly ResolvedTemplate[],
): string {
  if (awaited.length > 0) return explainAwaited(awaited);
  const why = isMasterConnected ? 'its new files are still to be fetched' : 'the master is not connected';
  return `${templatesText(namesOf(unfetched))} changed, and ${why}`;
}

/** The operator's message when the master has no such template. */
export function missingMessage(templates: readonly string[]): string {
  const [first] = templates;
  return templates.length === 1
    ? `template ${first} cannot be used: the master has no usable templates/${first}`
    : `templates ${templates.join(', ')} cannot be used: the master has no usable directories of these names`;
}

function unfetchedMessage(templates: readonly string[]): string {
  return `${templatesText(templates)} cannot be fetched: the master is not connected; Drover fetches it when the connection is back`;
}

function templatesText(names: readonly string[]): string {
  return `${names.length === 1 ? 'template' : 'templates'} ${names.join(', ')}`;
}

function namesOf(templates: readonly ResolvedTemplate[]): string[] {
  return templates.map(({ group, name }) => `${group}/${name}`);
}

function digestsOf(templates: readonly ResolvedTemplate[]): string {
  return templates.map(({ digest }) => digest).join();
}
