/**
 * The interface for extensions. An extension is an ES module in `extensions/<id>/` whose default export is an
 * `Extension`. In `activate` it registers what it adds; everything registered is removed when the node stops. It is the
 * operator's code and runs inside the daemon: its errors are caught, but an endless loop cannot be.
 */
import { z } from 'zod';
import type { MaybePromise } from '../loop/maybe-promise.js';
import type { InstanceState } from '../model/instance.js';
import type { LogPlace } from '../model/run/past-exit.js';
import type { Runtime } from '../runtime/runtime.js';
import type { StorageProvider } from '../templates/storage/storage-provider.js';

export type { StorageProvider } from '../templates/storage/storage-provider.js';

export interface Extension {
  /** Shown by `extension list`; default: the folder's name. */
  readonly name?: string | undefined;
  /** The version. Default: the version in `package.json`. */
  readonly version?: string | undefined;
  /** The description. Default: the description in `package.json`. */
  readonly description?: string | undefined;
  /**
   * Called once at the start of the node, for 10 s at most. When it throws or takes longer, everything that it
   * registered is removed, and the node starts without the extension.
   */
  activate(context: ExtensionContext): MaybePromise<void>;
  /** Called when the node stops, for 5 s at most, if `activate` succeeded. */
  deactivate?: (() => MaybePromise<void>) | undefined;
}

/**
 * The methods and values that a node gives to an extension. `register...` and `on` may be called until `activate` has
 * ended.
 */
export interface ExtensionContext {
  /** The folder's name. */
  readonly id: string;
  readonly nodeId: string;
  /** The content of `extensions/<id>/config.json`; undefined: no such file. An operator wrote it, so check it. */
  readonly settings: unknown;
  /** A directory for data that outlives the process; 0700, for this extension only. */
  readonly dataDirectory: string;
  /** The node's own log. Secrets of the settings are removed from messages. */
  readonly log: ExtensionLog;
  /** Aborts when the node stops. */
  readonly signal: AbortSignal;
  /**
   * Adds a runtime under `runtime.key`, which configurations name. A taken key is an error, here and in the methods
   * below.
   */
  registerRuntime(runtime: Runtime): void;
  /** Opens the log of an instance, for a runtime that writes the instance's output itself. */
  openInstanceLog(instanceId: string): InstanceLog;
  registerStorage(key: string, provider: StorageProvider): void;
  /**
   * Adds `%NAME%` to every instance of this node; `properties` of a configuration win over it. `value` is called at
   * each install and start. When `value` throws, `%NAME%` stays unreplaced and the log says so.
   */
  registerVariable(name: string, value: (instance: VariableContext) => string): void;
  registerCommand(command: ExtensionCommand): void;
  /**
   * Adds a listener. It first gets an event for everything that exists, then for each change, in order. When the
   * listener returns a promise, the next event waits for it. At most 10,000 events wait; beyond that the oldest are
   * dropped.
   */
  on(listener: NodeEventListener): void;
}

interface ExtensionLog {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

/** Appends to the log of one instance: bounded, rotated, never throwing. */
export interface InstanceLog {
  /** The place of the next byte, for `Exit.output`; undefined before the first write. */
  readonly position: LogPlace | undefined;
  write(bytes: Uint8Array): void;
  close(): void;
}

export interface VariableContext {
  readonly instanceId: string;
  readonly configurationName: string;
  readonly port: number | null;
}

export interface ExtensionCommand {
  /** A single word of `[a-z0-9-]` that is no command of Drover itself. */
  readonly name: string;
  /** The parameters for the help, such as `<player> [reason]`. */
  readonly usage?: string | undefined;
  readonly description: string;
  /** Runs the command. When it throws, the error's message is printed. */
  run(
    args: readonly string[],
    io: { print(line: string): void; readonly signal: AbortSignal },
  ): MaybePromise<void>;
}

export type NodeEventListener = (event: NodeEvent) => MaybePromise<void>;

export type NodeEvent =
  | {
      readonly type: 'instance-state';
      readonly instanceId: string;
      readonly configurationName: string;
      /** Null when the instance is new, or the node has just started. */
      readonly from: InstanceState | null;
      /** Null when the instance is gone. */
      readonly to: InstanceState | null;
    }
  | { readonly type: 'node-condition'; readonly nodeId: string; readonly condition: string }
  | {
      readonly type: 'configuration';
      readonly name: string;
      readonly change: 'added' | 'changed' | 'removed';
    };

/** An extension as `extension list` shows it. */
export const extensionStatusSchema = z.object({
  id: z.string(),
  name: z.string(),
  version: z.string().nullable(),
  description: z.string().nullable(),
  state: z
    .enum(['active', 'failed', 'inactive'])
    .describe("inactive: one of Drover's own that nobody configured"),
  error: z.string().nullable().describe('why it failed; of an active one, what went wrong last'),
  adds: z.array(z.string()).readonly().describe('for people: `storage main`, `command greet`'),
});
export type ExtensionStatus = Readonly<z.output<typeof extensionStatusSchema>>;
