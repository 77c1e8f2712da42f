/** The interface of storages, which give templates beside the master's own `templates/`. Extensions implement it. */

/** Called by the master only. Its errors reach operators and clients, so they must not contain a secret. */
export interface StorageProvider {
  /**
   * Answers a text (1 to 1,024 characters) that changes when the template does; null when there is no such template.
   * Drover calls it often, so it should be cheap.
   */
  version(group: string, name: string, signal: AbortSignal): Promise<string | null>;
  /**
   * Writes the whole template, regular files and directories, into an empty directory. After an error Drover keeps
   * nothing of the download. Drover may call it again at any time.
   */
  download(group: string, name: string, directory: string, signal: AbortSignal): Promise<void>;
  /**
   * Answers the names of the templates in a group, in any order; none when there is no such group. Absent: the storage
   * cannot tell, so `allInGroups` and `oneInGroups` find nothing there.
   */
  list?: ((group: string, signal: AbortSignal) => Promise<readonly string[]>) | undefined;
}

/** The storages that are registered, by key. */
export interface StorageProviders {
  /** The keys, sorted. */
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

/** `group world of storage main`, for messages. */
export function groupLabel(storage: string, group: string): string {
  return `group ${group} of storage ${storage}`;
}

/**
 * The fields of a log line. The template's name is `template`, because a field `name` would be taken for the logger's.
 */
export function storedFields({ storage, group, name }: StoredTemplate): Record<string, string> {
  return { storage, group, template: name };
}
