/**
 * What an extension may use: the one typed interface of `extensions/<id>/`. An extension is an ES module whose
 * default export is an `Extension`; everything it adds is registered in `activate` and goes when the node stops.
 */
import type { InstanceState } from '../model/instance.js';
import type { Runtime } from '../runtime/runtime.js';

export interface Extension {
  /** Shown by `extension list`; default: the folder's name. */
  readonly name?: string;
  readonly version?: string;
  readonly description?: string;
  /** Called once at the start of the node. What it throws is reported; the node starts without the extension. */
  activate(context: ExtensionContext): void | Promise<void>;
  /** Called when the node stops; bounded in time. */
  deactivate?(): void | Promise<void>;
}

export interface ExtensionContext {
  /** The folder's name. */
  readonly id: string;
  readonly nodeId: string;
  /** Content of `extensions/<id>/config.json`, or undefined: check it, an operator wrote it. */
  readonly settings: unknown;
  readonly log: ExtensionLog;
  /** Aborts when the node stops. */
  readonly signal: AbortSignal;
  /** A key that is taken already is an error. */
  registerRuntime(runtime: Runtime): void;
  registerStorage(key: string, provider: StorageProvider): void;
  /** Adds `%NAME%` to every instance of this node. `value` is called at each install and start. */
  registerVariable(name: string, value: (instance: VariableContext) => string): void;
  registerCommand(command: ExtensionCommand): void;
  on(listener: (event: NodeEvent) => void): void;
}

export interface ExtensionLog {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

/** Where templates come from, beside the master's own `templates/`. */
export interface StorageProvider {
  /** A text that changes when the template does; null: there is no such template. */
  version(group: string, name: string, signal: AbortSignal): Promise<string | null>;
  /** Writes the whole template into an empty directory. What it throws ends the sync; nothing is kept of it then. */
  download(group: string, name: string, directory: string, signal: AbortSignal): Promise<void>;
}

export interface VariableContext {
  readonly instanceId: string;
  readonly configurationName: string;
  readonly port: number | null;
}

export interface ExtensionCommand {
  /** One word, not one of Drover's own. */
  readonly name: string;
  /** For the help: `<player> [reason]`. */
  readonly usage?: string;
  readonly description: string;
  run(
    args: readonly string[],
    io: { print(line: string): void; readonly signal: AbortSignal },
  ): void | Promise<void>;
}

export type NodeEvent =
  | {
      readonly type: 'instance-state';
      readonly instanceId: string;
      readonly configurationName: string;
      readonly from: InstanceState | null;
      /** Null: removed. */
      readonly to: InstanceState | null;
    }
  | { readonly type: 'node-condition'; readonly nodeId: string; readonly condition: string }
  | {
      readonly type: 'configuration';
      readonly name: string;
      readonly change: 'added' | 'changed' | 'removed';
    };
