/** The template installer: fetches trees into the cache and makes working directories, as plan.ts decided. */
import PQueue from 'p-queue';
import { BOUNDS } from '../../../src/channel/protocol/messages.js';
import { Conflict, type Reconciler } from '../../../src/loop/reconciler.js';
import { DroverError, messageOf } from '../../../src/model/errors.js';
import { fieldOf } from '../../../src/model/json-object.js';
import { publicMessage } from '../../../src/model/public-message.js';
import { cutToBytes } from '../../../src/model/words.js';
import type { Desired } from '../../../src/node/desired-copy.js';
import { changed, type Handle, hindered, type Problem, withDirectory } from '../../../src/node/handle.js';
import type { TemplatePrefetch } from '../../../src/node/template-prefetch.js';
import { unheldIo } from '../../../src/runtime/limits/disk.js';
import type { NodeParts } from '../parts.js';
import { afterFailure } from '../process-supervisor/restart-delay.js';
import { type InstallerFacts, type InstallerStep, plan } from './plan.js';

/** How long after a cut connection to look again: by then this node knows of the cut. */
const LOOK_AFTER_CUT_MS = 20;

type InstallStep = InstallerStep & { readonly do: 'install' };

export class TemplateInstaller implements Reconciler<InstallerFacts, InstallerStep> {
  readonly name = 'template-installer';
  readonly plan = plan;
  readonly #parts: NodeParts;
  readonly #wake: (id: string, afterMs: number) => void;
  readonly #fetches: Fetches;
  readonly #installing = new Map<string, Promise<readonly string[]>>();

  /** `wake(id, afterMs)` asks for a look at the instance after `afterMs`, because its fetch has ended. */
  constructor(parts: NodeParts, wake: (id: string, afterMs: number) => void) {
    this.#parts = parts;
    this.#wake = wake;
    this.#fetches = new Fetches(parts.prefetch);
  }

  observe(id: string): InstallerFacts | undefined {
    const { desired, handles, installation, secrets, calls, nodeStop } = this.#parts;
    const handle = handles.get(id);
    if (handle === undefined) return undefined;
    const wanted = desired.get(id);
    const digests = wanted?.assignment.templates.flatMap(({ digest }) => digest ?? []) ?? [];
    const last = handle.installed?.templates ?? [];
    return {
      id,
      desired: wanted,
      handle,
      isNodeStopping: nodeStop.aborted,
      missingSecrets: wanted === undefined ? [] : secrets.lacking(wanted.assignment),
      missingDigests: [...new Set(digests)].filter((digest) => !installation.isCached(digest)),
      isLastInstallCached: last.every(({ digest }) => digest !== null && installation.isCached(digest)),
      isMasterConnected: calls() !== undefined,
      isFetching: this.#fetches.isWaiting(id),
    };
  }

  perform(step: InstallerStep, signal: AbortSignal, id: string): Promise<void> | void {
    switch (step.do) {
      case 'note-missing':
        return this.#noteMissing(id, step);
      case 'fetch':
        return this.#fetch(id, step.digest);
      case 'discard-install':
        return this.#parts.handles.move(id, (handle) => withDirectory(handle, 'stale'));
      case 'install':
        return this.#install(id, step, signal);
      default:
        return step satisfies never;
    }
  }

  /** Resolves when no install of this instance is under way. */
  async whenInstalled(id: string): Promise<void> {
    await this.#installing.get(id)?.catch(() => undefined);
  }

  /** Breaks off the fetches under way. */
  stop(): Promise<void> {
    return this.#fetches.stop();
  }

  #noteMissing(id: string, { reason, message }: InstallerStep & { do: 'note-missing' }): void {
    const problem: Problem = { reason, message, busyPort: null };
    this.#parts.logger.warn({ instance: id, reason }, `cannot install ${id}: ${message}`);
    // Set no delay: the installer is woken when the template, the secret or the connection comes.
    this.#parts.handles.move(id, (handle) => hindered(handle, { problem, delay: null }));
  }

  #fetch(id: string, digest: string): void {
    this.#fetches.begin(id, digest, (error) => {
      // A fetch that lost its connection has not failed: the next connection continues it.
      const isCutOff = DroverError.is(error, 'DRV_CHANNEL_CLOSED');
      if (error !== undefined && !isCutOff) this.#failed(id, error, digest);
      this.#wake(id, isCutOff ? LOOK_AFTER_CUT_MS : 0);
    });
  }

  async #install(id: string, { templates, behind }: InstallStep, signal: AbortSignal): Promise<void> {
    const { desired, handles, logger } = this.#parts;
    const wanted = desired.get(id);
    const handle = handles.get(id);
    if (wanted === undefined || handle === undefined || handle.phase.is !== 'down')
      throw new Conflict(`instance ${id} changed before its installation`);
    if (behind !== null)
      logger.warn(
        { instance: id, configuration: handle.configurationName },
        `${id} (${handle.configurationName}) ${behind}`,
      );
    const assignment = { ...wanted.assignment, templates: [...templates] };
    const installing = this.#makeDirectory({ ...wanted, assignment }, handle, signal);
    this.#installing.set(id, installing);
    try {
      const warnings = [...(await installing), ...this.#unheld(wanted)];
      for (const warning of warnings) logger.warn({ instance: id }, `installing ${id}: ${warning}`);
      this.#installed({ templates, behind, warning: warningText(warnings) }, wanted, handle);
    } catch (error) {
      if (signal.aborted) throw error;
      this.#failed(id, error);
    } finally {
      this.#installing.delete(id);
    }
  }

  /** The warnings about limits that do not hold on this node. */
  #unheld({ configuration: { limits, runtime } }: Desired): string[] {
    if (limits === undefined) return [];
    const { limits: held, runtimes } = this.#parts;
    // Such a runtime limits by itself.
    const isOwn = runtimes.get(runtime)?.usage !== undefined;
    const pids = isOwn || held.holdsPids ? {} : { pids: held.advisory ?? 'it cannot count processes' };
    return Object.entries({ ...pids, ...unheldIo(isOwn || held.hasIo, held.disk) })
      .filter(([limit]) => fieldOf(limits, limit) !== undefined)
      .map(([limit, reason]) => `limits.${limit} is advisory on this node: ${reason}`);
  }

  async #makeDirectory(
    wanted: Desired,
    { id, static: isStatic, isFound, hooks }: Handle,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const { desired, handles, installation, secrets } = this.#parts;
    if (isStatic && isFound === null) {
      const isThere = (await installation.directories()).includes(id);
      handles.change(id, { isFound: isThere, hooks: isThere ? hooks : { ...hooks, preparedFor: null } });
      // Otherwise the next daemon could take a directory that this install makes for one that was there before.
      await handles.keep();
    }
    // Await only where there are secrets: an install begins in the same turn of the event loop as its round.
    if (wanted.assignment.secrets === undefined) return installation.install(wanted, desired.master, signal);
    await secrets.renew(wanted.assignment, signal);
    return installation.install({ ...wanted, secrets: secrets.used(id) }, desired.master, signal);
  }

  /** Notes the install, unless another install was requested meanwhile or a process of the instance was found. */
  #installed(
    { templates, behind, warning }: Omit<InstallStep, 'do'> & { readonly warning: string | null },
    wanted: Desired,
    handle: Handle,
  ): void {
    const { desired, handles, clock } = this.#parts;
    const { restartToken, id, run } = handle;
    const now = handles.get(id);
    const isSame = desired.get(id)?.assignment.revision === wanted.assignment.revision;
    if (!isSame || now?.run !== run || now.restartToken !== restartToken || now.phase.is !== 'down') return;
    const { port, ports } = wanted.assignment;
    const install = { restartToken, templates: [...templates], behind, at: clock.now(), port, ports };
    const installed = templates.length === 0 ? null : install;
    handles.put(withDirectory({ ...now, warning, installed }, 'prepared'));
  }

  /** Notes a failed install or fetch. `digest`: the tree that could not be fetched. */
  #failed(id: string, error: unknown, digest?: string): void {
    const { handles, clock, random, logger } = this.#parts;
    logger.warn({ instance: id, err: error }, `cannot install ${id}: ${messageOf(error)}`);
    const problem: Problem = {
      reason: DroverError.is(error, 'DRV_SECRET_MISSING') ? 'secret-missing' : 'install-failed',
      message: publicMessage(error),
      busyPort: null,
      ...(digest !== undefined && { digest }),
    };
    handles.move(id, (handle) => {
      // The instance of a slow fetch may by now run with other trees: this failure does not concern it.
      if (handle.phase.is !== 'down') return handle;
      const { streak, next } = afterFailure(handle, problem, clock.monotonic(), random());
      return hindered(changed(handle, { streak }), next);
    });
  }
}

/** The warnings as one text for the report. */
function warningText(warnings: readonly string[]): string | null {
  return warnings.length === 0 ? null : cutToBytes(warnings.join('; '), BOUNDS.sentenceBytes);
}

/** How many trees are fetched at once: each fetch downloads and unpacks a tree. */
const FETCHES_AT_ONCE = 4;

/**
 * The fetches that instances wait for. Fetches take none of the installer's places, so installs that need no fetch go
 * on while fetches hang.
 */
class Fetches {
  readonly #prefetch: TemplatePrefetch;
  readonly #places = new PQueue({ concurrency: FETCHES_AT_ONCE });
  readonly #stopped = new AbortController();
  readonly #underWay = new Map<string, Promise<unknown>>();
  /** Ids of the instances that wait for a fetch. */
  readonly #waiting = new Set<string>();

  constructor(prefetch: TemplatePrefetch) {
    this.#prefetch = prefetch;
  }

  isWaiting(id: string): boolean {
    return this.#waiting.has(id);
  }

  /**
   * Fetches a tree for an instance. Instances that wait for one tree share its fetch. Calls `onEnd` when the tree is
   * here, or with the error of the fetch; never calls it after `stop`.
   */
  begin(id: string, digest: string, onEnd: (error: unknown) => void): void {
    this.#waiting.add(id);
    const end = (error?: unknown): void => {
      this.#waiting.delete(id);
      if (!this.#stopped.signal.aborted) onEnd(error);
    };
    this.#fetch(digest).then(() => end(), end);
  }

  /** Breaks off the fetches under way, and resolves when they have ended. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#places.clear();
    await this.#places.onIdle();
  }

  #fetch(digest: string): Promise<unknown> {
    const known = this.#underWay.get(digest);
    if (known !== undefined) return known;
    const fetching = this.#places
      .add(() => this.#prefetch.urgent(digest, this.#stopped.signal))
      .finally(() => this.#underWay.delete(digest));
    this.#underWay.set(digest, fetching);
    return fetching;
  }
}
