/**
 * The installer's decisions: before the supervisor may start an instance, give it a complete working directory. It is
 * made from exactly the template digests that the master named, or, for a restart that nobody asked for, from those of
 * the last install while the others cannot be had.
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
  /** The cache has every tree of the last install. */
  readonly isLastInstallCached: boolean;
  readonly isMasterConnected: boolean;
  /** A tree is being fetched for this instance. */
  readonly isFetching: boolean;
}

export type InstallerStep =
  /** Note why the templates cannot be had (yet). What ends that wakes the instance again. */
  | { readonly do: 'note-missing'; readonly templates: readonly string[]; readonly message: string }
  /** Bring one tree into the cache, whole and verified. */
  | { readonly do: 'fetch'; readonly digest: string }
  /** A template changed since the directory was made for a start that has not come yet: make it anew. */
  | { readonly do: 'discard-install' }
  /** Make the working directory for the next start, all or nothing. */
  | {
      readonly do: 'install';
      readonly templates: readonly ResolvedTemplate[];
      /** Why these are not the newest that the node knows of, for a person; null: they are. */
      readonly behind: string | null;
    };

export function plan(facts: InstallerFacts, now: number): Plan<InstallerStep> {
  const { desired, handle } = facts;
  if (desired === undefined || desired.assignment.goal !== 'run' || facts.isNodeStopping)
    return { steps: [] };
  const isRestartPending = handle.restartToken !== desired.assignment.restartToken;
  const isOccupied =
    handle.process !== null || handle.isStarting || handle.hasRemains || handle.stopping !== null;
  if (isOccupied || isRestartPending || isFinished(facts, handle)) return { steps: [] };
  const { templates } = desired.assignment;
  if (handle.isPrepared) return { steps: isOutdated(facts, templates) ? [{ do: 'discard-install' }] : [] };
  return planInstall(facts, templates, now);
}

function planInstall(
  facts: InstallerFacts,
  templates: readonly ResolvedTemplate[],
  now: number,
): Plan<InstallerStep> {
  const { handle, missingDigests } = facts;
  const awaited = templates.filter((template) => isAwaited(template, handle));
  const unfetched = templates.filter(({ digest }) => digest !== null && missingDigests.includes(digest));
  const last = repeatable(facts, templates);
  if (last === undefined && (awaited.length > 0 || (unfetched.length > 0 && !facts.isMasterConnected)))
    return { steps: noteMissing(handle, awaited, unfetched) };
  if (handle.notBefore !== null && handle.notBefore > now && !isProblemOver(facts))
    return { steps: [], recheckInMs: handle.notBefore - now };
  const [digest] = missingDigests;
  if (awaited.length === 0 && digest === undefined)
    return { steps: [{ do: 'install', templates, behind: null }] };
  if (last === undefined)
    return { steps: digest === undefined || facts.isFetching ? [] : [{ do: 'fetch', digest }] };
  const behind = `runs with the files of its last install: ${explainBehind(facts, awaited, unfetched)}`;
  return { steps: [{ do: 'install', templates: last, behind }] };
}

/**
 * Whether the master has to say more before this template can be installed. Where it has a tree and is looking for a
 * newer one, only a start that was asked for waits.
 */
function isAwaited({ digest, problem }: ResolvedTemplate, handle: Handle): boolean {
  return digest === null || (problem !== undefined && !isUnasked(handle));
}

/** Nobody has asked for a restart since the last install: the next start is one after a crash, or with its node. */
function isUnasked({ installed, restartToken }: Handle): boolean {
  return installed !== null && installed.restartToken === restartToken;
}

/** What the last install was made from, where the next start may take it once more. */
function repeatable(
  { handle, isLastInstallCached }: InstallerFacts,
  templates: readonly ResolvedTemplate[],
): readonly ResolvedTemplate[] | undefined {
  if (handle.installed === null || !isUnasked(handle) || !isLastInstallCached) return undefined;
  const last = handle.installed.templates;
  return namesOf(last).join() === namesOf(templates).join() ? last : undefined;
}

/** True when what was prepared for a start is not what the start should have, and that is here. */
function isOutdated(
  { handle, missingDigests }: InstallerFacts,
  templates: readonly ResolvedTemplate[],
): boolean {
  if (handle.installed === null || missingDigests.length > 0) return false;
  if (templates.some(({ digest, problem }) => digest === null || problem !== undefined)) return false;
  return digestsOf(templates) !== digestsOf(handle.installed.templates);
}

/** The tree that could not be fetched has come another way, or is not wanted any more. */
function isProblemOver({ handle: { problem }, missingDigests }: InstallerFacts): boolean {
  if (problem?.reason === 'template-missing') return true;
  return problem?.digest !== undefined && !missingDigests.includes(problem.digest);
}

function noteMissing(
  { problem }: Handle,
  awaited: readonly ResolvedTemplate[],
  unfetched: readonly ResolvedTemplate[],
): InstallerStep[] {
  const missing = awaited.length > 0 ? awaited : unfetched;
  const message = awaited.length > 0 ? explainAwaited(awaited) : unfetchedMessage(namesOf(unfetched));
  const isNoted = problem?.reason === 'template-missing' && problem.message === message;
  return isNoted ? [] : [{ do: 'note-missing', templates: namesOf(missing), message }];
}

/** The master's own words, where it has any. */
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
