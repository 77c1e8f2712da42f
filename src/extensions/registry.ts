/**
 * The extensions of this node. It loads them at the start, one after the other in the order of their ids, keeps their
 * additions, and ends them with the node. It reports their errors, and the node goes on.
 */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Part } from '../loop/lifecycle.js';
import { messageOf } from '../model/errors.js';
import type { Runtime } from '../runtime/runtime.js';
import type { StorageProviders } from '../templates/storage/storage-provider.js';
import type { BuiltIn } from './built-in/built-ins.js';
import type { ExtensionCommand, ExtensionStatus, NodeEvent, VariableContext } from './extension.js';
import { ExtensionFaults } from './extension-faults.js';
import {
  checkId,
  type ExtensionModule,
  findModule,
  listExtensions,
  readSettings,
} from './extension-files.js';
import { type ExtensionCode, type ExtensionHost, LoadedExtension } from './loaded-extension.js';
import { EventQueue, type EventSources, followEvents } from './node-events.js';
import { Registrations } from './registrations.js';

const ACTIVATE_LIMIT_MS = 10_000;

interface ExtensionRegistryOptions
  extends Omit<ExtensionHost, 'activateLimitMs' | 'registrations' | 'faults'> {
  /** The path of `extensions/`. */
  readonly directory: string;
  /** The built-in extensions. Each is active when it has settings. */
  readonly builtIns: readonly BuiltIn[];
  /** Learns which code belongs to an extension, to find the origin of uncaught errors. Default: a new object. */
  readonly faults?: ExtensionFaults;
  /** Called when the code of an extension is about to be loaded, and is in `codes`. */
  readonly onCode?: () => void;
  readonly activateLimitMs?: number;
}

interface Entry {
  readonly id: string;
  readonly builtIn: BuiltIn | undefined;
  loaded?: LoadedExtension;
  module?: ExtensionModule;
  state: ExtensionStatus['state'];
  error: string | null;
}

export class ExtensionRegistry implements Part {
  /** The directory with the code of each extension that was loaded, by its id. */
  readonly codes = new Map<string, string>();
  readonly #options: ExtensionRegistryOptions;
  readonly #registrations = new Registrations();
  readonly #host: ExtensionHost;
  readonly #entries: Entry[] = [];
  readonly #queues: EventQueue[] = [];
  readonly #saidOfVariables = new Map<string, string>();
  #unfollow: (() => void) | undefined;
  #isStopped = false;

  constructor(options: ExtensionRegistryOptions) {
    this.#options = options;
    const { activateLimitMs = ACTIVATE_LIMIT_MS, faults = new ExtensionFaults() } = options;
    this.#host = { ...options, activateLimitMs, faults, registrations: this.#registrations };
  }

  /**
   * Loads and activates all extensions. Never throws because of an extension. Call it once, before the additions are
   * used.
   */
  async start(): Promise<void> {
    const { builtIns, directory, logger } = this.#options;
    const found = await listExtensions(directory).catch((error: unknown) => {
      logger.error(`no extension is used: ${messageOf(error)}`);
      return undefined;
    });
    for (const builtIn of builtIns) await this.#startBuiltIn(builtIn, found !== undefined);
    for (const id of found ?? []) if (!this.#isStopped) await this.#startOne(id);
  }

  /** Ends all extensions at the same time, within 5 s. Idempotent. */
  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#unfollow?.();
    for (const queue of this.#queues) queue.stop();
    await Promise.all(this.#entries.map(({ loaded }) => loaded?.deactivate()));
  }

  /** All extensions, sorted by id. An id appears twice when a folder has the id of a built-in extension. */
  list(): ExtensionStatus[] {
    return this.#entries.map((entry) => this.#statusOf(entry)).toSorted((a, b) => (a.id < b.id ? -1 : 1));
  }

  commands(): readonly ExtensionCommand[] {
    return this.#registrations.entries('command').map(([, command]) => command);
  }

  runtimes(): readonly Runtime[] {
    return this.#registrations.entries('runtime').map(([, runtime]) => runtime);
  }

  get storages(): StorageProviders {
    return {
      keys: () => [...new Map(this.#registrations.entries('storage')).keys()].sort(),
      get: (key) => this.#registrations.get('storage', key),
    };
  }

  /**
   * The values of the extensions' variables for an instance. Never throws: a variable whose value fails is left out.
   */
  variables(instance: VariableContext): ReadonlyMap<string, string> {
    const values = new Map<string, string>();
    for (const [name, value] of this.#registrations.entries('variable'))
      try {
        values.set(name, value(instance));
        this.#saidOfVariables.delete(name);
      } catch (error) {
        this.#sayOfVariable(name, messageOf(error), instance);
      }
    return values;
  }

  /**
   * Connects the listeners. They get changes only while `isLeader` returns true: of several masters, only the
   * leader's listeners hear of changes. Call it before the mirrors start, so that listeners hear of existing records.
   */
  follow(sources: EventSources, isLeader: () => boolean): void {
    const listeners = this.#registrations.entries('listener');
    if (listeners.length === 0) return;
    for (const [key, listener] of listeners) {
      const loaded = this.#entries.find(({ id }) => key.startsWith(`${id} `))?.loaded;
      const onFault = (error: unknown): void => loaded?.guard.report(error);
      const onDropped = (count: number): void =>
        onFault(new Error(`${count} events were dropped: its listener is too slow`));
      this.#queues.push(new EventQueue({ listener, clock: this.#options.clock, onFault, onDropped }));
    }
    this.#unfollow = followEvents(sources, (event: NodeEvent) => {
      if (isLeader()) for (const queue of this.#queues) queue.add(event);
    });
  }

  async #startBuiltIn(builtIn: BuiltIn, mayRead: boolean): Promise<void> {
    const { id } = builtIn;
    const entry: Entry = { id, builtIn, state: 'inactive', error: null };
    this.#entries.push(entry);
    if (!mayRead) return;
    await this.#guard(entry, async () => {
      const directory = join(this.#options.directory, id);
      if ((await stat(directory).catch(() => undefined)) === undefined) return;
      const settings = await readSettings(directory);
      if (settings === undefined) return;
      await this.#activate(entry, { directory: undefined, settings, load: builtIn.load });
    });
  }

  async #startOne(id: string): Promise<void> {
    const directory = join(this.#options.directory, id);
    const builtIn = this.#options.builtIns.find((known) => known.id === id);
    const entry: Entry = { id, builtIn: undefined, state: 'failed', error: null };
    await this.#guard(entry, async () => {
      checkId(id);
      const module = await findModule(directory);
      // The folder holds only settings for the built-in extension, and they were read already.
      if (module === undefined && builtIn !== undefined) return;
      this.#entries.push(entry);
      if (builtIn !== undefined)
        throw new Error(`${id} is one of Drover's own; put this module into a folder of another name`);
      if (module === undefined)
        throw new Error('there is no index.js, no index.mjs and no package.json that names another file');
      entry.module = module;
      this.codes.set(id, module.directory);
      this.#options.onCode?.();
      const settings = await readSettings(directory);
      const load = (): Promise<unknown> => loadModule(module.file);
      // The last line of the log names an extension whose loop holds up the start for ever.
      this.#options.logger.info({ extension: id }, `extension ${id} starts`);
      await this.#activate(entry, { directory: module.directory, settings, load });
    });
  }

  async #activate(entry: Entry, code: ExtensionCode): Promise<void> {
    entry.loaded = new LoadedExtension({ ...code, id: entry.id, host: this.#host });
    await entry.loaded.activate();
    entry.state = 'active';
    const { name, adds } = this.#statusOf(entry);
    const what = adds.length === 0 ? 'nothing' : adds.join(', ');
    this.#options.logger.info({ extension: entry.id, adds }, `extension ${entry.id} (${name}) adds ${what}`);
  }

  async #guard(entry: Entry, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      entry.state = 'failed';
      entry.error = messageOf(error);
      if (!this.#entries.includes(entry)) this.#entries.push(entry);
      this.#options.logger.error(
        { extension: entry.id },
        `extension ${entry.id} is not used: ${entry.error}`,
      );
    }
  }

  #statusOf({ id, builtIn, loaded, module, state, error }: Entry): ExtensionStatus {
    const about = { ...module, ...builtIn, ...loaded?.about };
    return {
      id,
      name: loaded?.about.name ?? builtIn?.name ?? id,
      version: about.version ?? null,
      description: about.description ?? null,
      state,
      error: error ?? loaded?.guard.lastFault ?? null,
      adds: state === 'active' ? this.#registrations.describe(id) : [],
    };
  }

  #sayOfVariable(name: string, message: string, { instanceId }: VariableContext): void {
    if (this.#saidOfVariables.get(name) === message) return;
    this.#saidOfVariables.set(name, message);
    this.#options.logger.warn(
      { variable: name, instance: instanceId },
      `%${name}% of an extension has no value for ${instanceId} and stays as it is: ${message}`,
    );
  }
}

async function loadModule(file: string): Promise<unknown> {
  const module: unknown = await import(pathToFileURL(file).href);
  return module !== null && typeof module === 'object' && 'default' in module ? module.default : undefined;
}
