/** Where templates come from beside the master's own `templates/`: what an extension implements, and how it is found. */

/** Called by the master only. What it throws reaches operators and clients: no secret may be in it. */
export interface StorageProvider {
  /** A text (1 to 1,024 characters) that changes when the template does; null: there is no such template. Cheap. */
  version(group: string, name: string, signal: AbortSignal): Promise<string | null>;
  /**
   * Writes the whole template into an empty directory: regular files and directories. What it throws ends the
   * download, and nothing of it is kept then; it may be called again at any time.
   */
  download(group: string, name: string, directory: string, signal: AbortSignal): Promise<void>;
}

/** The storages that are registered, by key. */
export interface StorageProviders {
  /** In order. */
  keys(): readonly string[];
  get(key: string): StorageProvider | undefined;
}

/** One template of one storage. */
export interface StoredTemplate {
  readonly storage: string;
  readonly group: string;
  readonly name: string;
}

/** `template world/lobby of storage main`, for messages. */
export function storedLabel({ storage, group, name }: StoredTemplate): string {
  return `template ${group}/${name} of storage ${storage}`;
}

/** The same for a log line; a field `name` would be taken for the logger's. */
export function storedFields({ storage, group, name }: StoredTemplate): Record<string, string> {
  return { storage, group, template: name };
}
