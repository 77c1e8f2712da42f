/**
 * The life of an extension, from its module to its end. The registry makes an object of this class for each extension
 * that is to be active.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { SegmentWriter } from '../logs/segment-writer.js';
import type { SegmentLimits } from '../logs/segments.js';
import { withDeadline } from '../loop/deadline.js';
import { isInstanceId } from '../model/names.js';
import type { Ambient } from '../telemetry/ambient.js';
import type { Extension, ExtensionContext, InstanceLog } from './extension.js';
import type { ExtensionFaults } from './extension-faults.js';
import { ExtensionGuard } from './extension-guard.js';
import { functionSchema, Registrar } from './registrar.js';
import type { Registrations } from './registrations.js';

const DEACTIVATE_LIMIT_MS = 5000;

/** The parts that every extension of a node shares. */
export interface ExtensionHost extends Ambient {
  readonly nodeId: string;
  /** The path of `data/extensions`. */
  readonly dataDirectory: string;
  /** The path of `logs/instances`. */
  readonly instanceLogs: string;
  readonly logLimits: SegmentLimits;
  readonly activateLimitMs: number;
  readonly registrations: Registrations;
  readonly faults: ExtensionFaults;
}

export interface ExtensionCode {
  /** The directory of the extension's code; undefined for a built-in extension. */
  readonly directory: string | undefined;
  readonly settings: unknown;
  readonly load: () => Promise<unknown>;
}

interface LoadedExtensionOptions extends ExtensionCode {
  readonly id: string;
  readonly host: ExtensionHost;
}

const shape = z.looseObject({
  name: z.string().max(100).optional(),
  version: z.string().max(64).optional(),
  description: z.string().max(500).optional(),
  activate: functionSchema,
  deactivate: functionSchema.optional(),
});

export class LoadedExtension {
  readonly guard: ExtensionGuard;
  readonly #options: LoadedExtensionOptions;
  readonly #registrar: Registrar;
  readonly #stopping = new AbortController();
  readonly #logs = new Set<InstanceLog>();
  #extension: Extension | undefined;

  constructor(options: LoadedExtensionOptions) {
    this.#options = options;
    const { id, host } = options;
    this.guard = new ExtensionGuard({ ...host, ...options });
    this.#registrar = new Registrar({ id, guard: this.guard, ...host });
  }

  get about(): Pick<Extension, 'name' | 'version' | 'description'> {
    return this.#extension ?? {};
  }

  /**
   * Loads the module and activates it. Throws the reason when that fails, and removes everything that the extension
   * registered.
   */
  async activate(): Promise<void> {
    const { host, id, load } = this.#options;
    const { clock, activateLimitMs: limitMs } = host;
    const expired = (): Error => new Error(`it did not start within ${limitMs / 1000} s`);
    const { signal } = this.#stopping;
    try {
      await withDeadline({ limitMs, clock, signal, expired }, async (inTime) => {
        const extension = asExtension(await this.guard.call(load));
        // A module that loaded too late is not activated any more.
        inTime.throwIfAborted();
        const context = await this.#context();
        inTime.throwIfAborted();
        this.#extension = extension;
        await this.guard.call(() => extension.activate(context));
      });
    } catch (error) {
      this.#registrar.close();
      this.#stopping.abort();
      host.registrations.withdraw(id);
      throw this.guard.shown(error);
    } finally {
      this.#registrar.close();
    }
  }

  /** Ends the extension within 5 s. Never throws; idempotent. */
  async deactivate(): Promise<void> {
    if (this.#stopping.signal.aborted) return;
    this.#stopping.abort();
    const { clock } = this.#options.host;
    const limitMs = DEACTIVATE_LIMIT_MS;
    const expired = (): Error => new Error(`it did not end within ${limitMs / 1000} s`);
    const { signal } = new AbortController();
    try {
      await withDeadline({ limitMs, clock, signal, expired }, () =>
        this.guard.call(() => this.#extension?.deactivate?.()),
      );
    } catch (error) {
      this.guard.report(error);
    }
    for (const log of this.#logs) log.close();
  }

  async #context(): Promise<ExtensionContext> {
    const { host, id, settings } = this.#options;
    const dataDirectory = join(host.dataDirectory, id);
    await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
    const log = (level: 'info' | 'warn' | 'error') => (message: string) =>
      this.guard.log(level, String(message));
    return {
      id,
      nodeId: host.nodeId,
      settings,
      dataDirectory,
      log: { info: log('info'), warn: log('warn'), error: log('error') },
      signal: this.#stopping.signal,
      openInstanceLog: (instanceId) => this.#openLog(instanceId),
      ...this.#registrar,
    };
  }

  #openLog(instanceId: string): InstanceLog {
    if (!isInstanceId(instanceId)) throw new Error(`${String(instanceId)} is no instance id`);
    const { instanceLogs, logLimits } = this.#options.host;
    const writer = new SegmentWriter(join(instanceLogs, instanceId), logLimits);
    const log: InstanceLog = {
      get position() {
        return writer.position;
      },
      write: (bytes) => writer.write(bytes),
      close: () => {
        this.#logs.delete(log);
        writer.close();
      },
    };
    this.#logs.add(log);
    return log;
  }
}

function asExtension(loaded: unknown): Extension {
  const parsed = shape.safeParse(loaded);
  if (parsed.success && isExtension(loaded)) return loaded;
  const field = parsed.error?.issues[0]?.path.join('.') ?? '';
  throw new Error(
    field === ''
      ? 'its module has no default export that is an object'
      : `its default export has no valid ${field}: { name?, version?, description?, activate(context), deactivate?() }`,
  );
}

/** Checks only the shape: parsing would copy the object and lose the methods of a class. */
function isExtension(loaded: unknown): loaded is Extension {
  return loaded !== null && typeof loaded === 'object' && 'activate' in loaded;
}
