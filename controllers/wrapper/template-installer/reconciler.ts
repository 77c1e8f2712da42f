/** The template installer: fetches trees into the cache and makes working directories, as plan.ts decided. */
import { BOUNDS } from '../../../src/channel/protocol/messages.js';
import type { Clock } from '../../../src/loop/clock.js';
import { Conflict, type Reconciler } from '../../../src/loop/reconciler.js';
import { DroverError, messageOf } from '../../../src/model/errors.js';
import { publicMessage } from '../../../src/model/public-message.js';
import { cutToBytes } from '../../../src/model/words.js';
import type { Desired, DesiredCopy } from '../../../src/node/desired-copy.js';
import type { Handle, HandleBook, Problem } from '../../../src/node/handle-book.js';
import type { Logger } from '../../../src/telemetry/logger.js';
import { afterFailure } from '../process-supervisor/restart-delay.js';
import { Fetches } from './fetches.js';
import { type InstallerFacts, type InstallerStep, plan } from './plan.js';

/** By then the loss of the connection is known here too. */
const LOOK_AFTER_CUT_MS = 20;

export interface TemplateInstallerOptions {
  readonly desired: DesiredCopy;
  readonly handles: HandleBook;
  readonly isCached: (digest: string) => boolean;
  readonly isMasterConnected: () => boolean;
  /** Brings a tree into the cache. Throws when it cannot be had, or does not match its digest. */
  readonly fetch: (digest: string, signal: AbortSignal) => Promise<unknown>;
  /** Makes the working directory, whole or not at all. Resolves with warnings for the operator. */
  readonly install: (desired: Desired, signal: AbortSignal) => Promise<readonly string[]>;
  readonly isNodeStopping: () => boolean;
  /** Asks for a look at an instance whose fetch has ended, after a time in ms. */
  readonly wake: (id: string, afterMs: number) => void;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
}

type InstallStep = InstallerStep & { readonly do: 'install' };

export class TemplateInstaller implements Reconciler<InstallerFacts, InstallerStep> {
  readonly name = 'template-installer';
  readonly plan = plan;
  readonly #options: TemplateInstallerOptions;
  readonly #fetches: Fetches;
  readonly #installing = new Map<string, Promise<readonly string[]>>();

  constructor(options: TemplateInstallerOptions) {
    this.#options = options;
    this.#fetches = new Fetches(options.fetch);
  }

  observe(id: string): InstallerFacts | undefined {
    const { desired, handles, isCached, isMasterConnected, isNodeStopping } = this.#options;
    const handle = handles.get(id);
    if (handle === undefined) return undefined;
    const wanted = desired.get(id);
    const digests = wanted?.assignment.templates.flatMap(({ digest }) => digest ?? []) ?? [];
    const last = handle.installed?.templates ?? [];
    return {
      id,
      desired: wanted,
      handle,
      isNodeStopping: isNodeStopping(),
      missingDigests: [...new Set(digests)].filter((digest) => !isCached(digest)),
      isLastInstallCached: last.every(({ digest }) => digest !== null && isCached(digest)),
      isMasterConnected: isMasterConnected(),
      isFetching: this.#fetches.isWaiting(id),
    };
  }

  perform(step: InstallerStep, signal: AbortSignal, id: string): Promise<void> | void {
    switch (step.do) {
      case 'note-missing':
        this.#noteMissing(id, step);
        return;
      case 'fetch':
        this.#fetch(id, step.digest);
        return;
      case 'discard-install':
        this.#options.handles.change(id, { isPrepared: false });
        return;
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

  /** Breaks off what is being fetched. */
  stop(): Promise<void> {
    return this.#fetches.stop();
  }

  #noteMissing(id: string, { templates, message }: InstallerStep & { do: 'note-missing' }): void {
    const problem: Problem = { reason: 'template-missing', message, busyPort: null };
    this.#options.logger.warn({ instance: id, templates }, `cannot install ${id}: ${message}`);
    // No delay: the master, or the connection to it, says when the template is there.
    this.#options.handles.change(id, { problem, notBefore: null });
  }

  #fetch(id: string, digest: string): void {
    this.#fetches.begin(id, digest, (error) => {
      // No failure of the fetch: it goes on with the next connection.
      const isCutOff = DroverError.is(error, 'DRV_CHANNEL_CLOSED');
      if (error !== undefined && !isCutOff) this.#failed(id, error, digest);
      this.#options.wake(id, isCutOff ? LOOK_AFTER_CUT_MS : 0);
    });
  }

  async #install(id: string, { templates, behind }: InstallStep, signal: AbortSignal): Promise<void> {
    const { desired, handles, install, logger } = this.#options;
    const wanted = desired.get(id);
    const handle = handles.get(id);
    if (wanted === undefined || handle === undefined || handle.process !== null)
      throw new Conflict(`instance ${id} changed before its installation`);
    if (behind !== null)
      logger.warn(
        { instance: id, configuration: handle.configurationName },
        `${id} (${handle.configurationName}) ${behind}`,
      );
    const assignment = { ...wanted.assignment, templates: [...templates] };
    const installing = install({ ...wanted, assignment }, signal);
    this.#installing.set(id, installing);
    try {
      const warnings = await installing;
      for (const warning of warnings) logger.warn({ instance: id }, `installing ${id}: ${warning}`);
      this.#installed({ templates, behind, warning: warningText(warnings) }, wanted, handle);
    } catch (error) {
      if (signal.aborted) throw error;
      this.#failed(id, error);
    } finally {
      this.#installing.delete(id);
    }
  }

  /** Notes the install, unless something else was asked for meanwhile. */
  #installed(
    { templates, behind, warning }: Omit<InstallStep, 'do'> & { readonly warning: string | null },
    wanted: Desired,
    handle: Handle,
  ): void {
    const { desired, handles } = this.#options;
    const { restartToken, id, run } = handle;
    const now = handles.get(id);
    const isSame = desired.get(id)?.assignment.revision === wanted.assignment.revision;
    if (!isSame || now?.run !== run || now.restartToken !== restartToken) return;
    const isPortProblem = now.problem?.reason === 'port-busy';
    handles.put({
      ...now,
      isPrepared: true,
      isCleared: false,
      warning,
      installed: templates.length === 0 ? null : { restartToken, templates: [...templates], behind },
      problem: isPortProblem ? now.problem : null,
      notBefore: isPortProblem ? now.notBefore : null,
    });
  }

  /** `digest`: the tree that could not be fetched. */
  #failed(id: string, error: unknown, digest?: string): void {
    const { handles, clock, random, logger } = this.#options;
    const handle = handles.get(id);
    if (handle === undefined) return;
    logger.warn({ instance: id, err: error }, `cannot install ${id}: ${messageOf(error)}`);
    const problem: Problem = {
      reason: 'install-failed',
      message: publicMessage(error),
      busyPort: null,
      ...(digest !== undefined && { digest }),
    };
    handles.change(id, afterFailure(handle, problem, clock.monotonic(), random()));
  }
}

/** The warnings as one text for the report. */
function warningText(warnings: readonly string[]): string | null {
  return warnings.length === 0 ? null : cutToBytes(warnings.join('; '), BOUNDS.sentenceBytes);
}
