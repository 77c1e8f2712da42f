/** The template installer: fetches trees into the cache and makes working directories, as plan.ts decided. */
import type { Clock } from '../../../src/loop/clock.js';
import { Conflict, type Reconciler } from '../../../src/loop/reconciler.js';
import { messageOf } from '../../../src/model/errors.js';
import { publicMessage } from '../../../src/model/public-message.js';
import type { Desired, DesiredCopy } from '../../../src/node/desired-copy.js';
import type { Handle, HandleBook, Problem } from '../../../src/node/handle-book.js';
import type { Logger } from '../../../src/telemetry/logger.js';
import { afterFailure } from '../process-supervisor/restart-delay.js';
import { type InstallerFacts, type InstallerStep, plan } from './plan.js';

export interface TemplateInstallerOptions {
  readonly desired: DesiredCopy;
  readonly handles: HandleBook;
  readonly isCached: (digest: string) => boolean;
  /** Brings a tree into the cache. Throws when it cannot be had, or does not match its digest. */
  readonly fetch: (digest: string, signal: AbortSignal) => Promise<unknown>;
  /** Makes the working directory, whole or not at all. Resolves with warnings for the operator. */
  readonly install: (desired: Desired, signal: AbortSignal) => Promise<readonly string[]>;
  readonly isNodeStopping: () => boolean;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
}

export type InstallerRoundStep = InstallerStep & { readonly id: string };

export class TemplateInstaller implements Reconciler<InstallerFacts, InstallerRoundStep> {
  readonly name = 'template-installer';
  readonly #options: TemplateInstallerOptions;
  readonly #installing = new Map<string, Promise<readonly string[]>>();

  constructor(options: TemplateInstallerOptions) {
    this.#options = options;
  }

  observe(id: string): InstallerFacts | undefined {
    const { desired, handles, isCached, isNodeStopping } = this.#options;
    const handle = handles.get(id);
    if (handle === undefined) return undefined;
    const wanted = desired.get(id);
    const digests = wanted?.assignment.templates.flatMap(({ digest }) => digest ?? []) ?? [];
    return {
      id,
      desired: wanted,
      handle,
      isNodeStopping: isNodeStopping(),
      missingDigests: [...new Set(digests)].filter((digest) => !isCached(digest)),
    };
  }

  plan(facts: InstallerFacts, now: number) {
    const { steps, ...rest } = plan(facts, now);
    return { ...rest, steps: steps.map((step) => ({ ...step, id: facts.id })) };
  }

  perform(step: InstallerRoundStep, signal: AbortSignal): Promise<void> | void {
    switch (step.do) {
      case 'note-missing':
        this.#noteMissing(step);
        return;
      case 'fetch':
        return this.#fetch(step.id, step.digest, signal);
      case 'install':
        return this.#install(step.id, signal);
      default:
        return step satisfies never;
    }
  }

  /** Resolves when no install of this instance is under way. */
  async whenInstalled(id: string): Promise<void> {
    await this.#installing.get(id)?.catch(() => undefined);
  }

  #noteMissing({ id, templates, message }: InstallerRoundStep & { do: 'note-missing' }): void {
    const problem: Problem = { reason: 'template-missing', message, busyPort: null };
    this.#options.logger.warn({ instance: id, templates }, `cannot install ${id}: ${message}`);
    // No delay: the master says when the template is there.
    this.#options.handles.change(id, { problem, notBefore: null });
  }

  async #fetch(id: string, digest: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#options.fetch(digest, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      this.#failed(id, error);
    }
  }

  async #install(id: string, signal: AbortSignal): Promise<void> {
    const { desired, handles, install, logger } = this.#options;
    const wanted = desired.get(id);
    const handle = handles.get(id);
    if (wanted === undefined || handle === undefined || handle.process !== null)
      throw new Conflict(`instance ${id} changed before its installation`);
    const installing = install(wanted, signal);
    this.#installing.set(id, installing);
    try {
      const warnings = await installing;
      for (const warning of warnings) logger.warn({ instance: id }, `installing ${id}: ${warning}`);
      this.#installed(wanted, handle);
    } catch (error) {
      if (signal.aborted) throw error;
      this.#failed(id, error);
    } finally {
      this.#installing.delete(id);
    }
  }

  /** Notes the install, unless something else was asked for meanwhile. */
  #installed(installed: Desired, handle: Handle): void {
    const { desired, handles } = this.#options;
    const now = handles.get(handle.id);
    const isSame = desired.get(handle.id)?.assignment.revision === installed.assignment.revision;
    if (!isSame || now?.run !== handle.run || now.restartToken !== handle.restartToken) return;
    const isPortProblem = now.problem?.reason === 'port-busy';
    handles.change(handle.id, {
      isPrepared: true,
      isCleared: false,
      ...(isPortProblem ? {} : { problem: null }),
    });
  }

  #failed(id: string, error: unknown): void {
    const { handles, clock, random, logger } = this.#options;
    const handle = handles.get(id);
    if (handle === undefined) return;
    logger.warn({ instance: id, err: error }, `cannot install ${id}: ${messageOf(error)}`);
    const problem: Problem = { reason: 'install-failed', message: publicMessage(error), busyPort: null };
    handles.change(id, afterFailure(handle, problem, clock.monotonic(), random()));
  }
}
