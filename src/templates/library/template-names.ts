/**
 * Reads and watches the names of groups and templates under `templates/`. Only the library uses it; the library reads
 * what is in a template.
 */

import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import { z } from 'zod';
import { ABSENT_SUBMODULE, isAbsentSubmodule } from '../../files/git-leftovers.js';
import { ignoring } from '../../files/system-error.js';
import { watchRefusal } from '../../files/watch-directory.js';
import { messageOf } from '../../model/errors.js';
import { nameSchema } from '../../model/names.js';
import type { Logger } from '../../telemetry/logger.js';
import { kindOf } from '../tree/open-directory.js';

const rawDetailsSchema = z.object({ watchedPath: z.string() });

interface TemplateNamesOptions {
  /** The path of `templates/`. */
  readonly directory: string;
  /** Called for a new template. */
  readonly onAppeared: (group: string, name: string) => void;
  readonly onDisappeared: (group: string, name: string) => void;
  /** Called when this group, or this template of it, may be another directory than before. */
  readonly onReplaced: (group: string, name: string | undefined) => void;
  readonly logger: Logger;
}

export class TemplateNames {
  readonly #options: TemplateNamesOptions;
  #groups: ReadonlyMap<string, readonly string[]> = new Map();
  #warned: ReadonlySet<string> = new Set();
  #watcher: FSWatcher | undefined;
  #scanning: Promise<void> | null = null;
  #scanAgain = false;
  #isStopped = false;

  constructor(options: TemplateNamesOptions) {
    this.#options = options;
  }

  /** Resolves when `groups` is complete and watched. Throws when the directory cannot be read. */
  async start(): Promise<void> {
    await this.#scan();
    await this.#watch();
    await this.rescan();
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#watcher?.close();
    await this.#scanning;
  }

  /** The groups and the names of their templates, both in order; a new map at every change. */
  groups(): ReadonlyMap<string, readonly string[]> {
    return this.#groups;
  }

  has(group: string, name: string): boolean {
    return this.#groups.get(group)?.includes(name) === true;
  }

  /** Reads the names now. Resolves when `groups` shows every directory that was there before the call. */
  async rescan(): Promise<void> {
    this.#requestScan();
    await this.#scanning;
  }

  async #watch(): Promise<void> {
    const top = join(this.#options.directory);
    const watcher = watch(top, {
      depth: 1,
      ignoreInitial: true,
      followSymlinks: false,
      ignored: (path, stats) => stats?.isFile() === true || (path !== top && basename(path).startsWith('.')),
    });
    this.#watcher = watcher;
    const request = (): void => this.#requestScan();
    // chokidar's own events come late. They still count for a new group, which may have got names before its watch
    // began.
    watcher.on('addDir', request).on('unlinkDir', request);
    watcher.on('raw', (event, name, details) => {
      if (event !== 'rename') return;
      request();
      const { data } = rawDetailsSchema.safeParse(details);
      if (data === undefined || name === null) return;
      if (data.watchedPath === top) this.#options.onReplaced(name, undefined);
      else this.#options.onReplaced(basename(data.watchedPath), name);
    });
    let isTold = false;
    watcher.on('error', (error) => {
      if (isTold) return;
      isTold = true;
      this.#options.logger.warn(
        `the names of templates are not watched, so Drover looks every 10 s: ${watchRefusal(error)}`,
      );
    });
    await new Promise<void>((resolve) => watcher.once('ready', resolve));
  }

  /** Requests during a scan share one further scan. */
  #requestScan(): void {
    if (this.#isStopped) return;
    this.#scanAgain = true;
    this.#scanning ??= this.#scanWhileAsked().finally(() => {
      this.#scanning = null;
    });
  }

  async #scanWhileAsked(): Promise<void> {
    while (this.#scanAgain && !this.#isStopped) {
      this.#scanAgain = false;
      await this.#scan().catch((error: unknown) => {
        this.#options.logger.warn({ reason: messageOf(error) }, 'templates cannot be listed');
      });
    }
  }

  async #scan(): Promise<void> {
    const { directory, logger, onAppeared, onDisappeared } = this.#options;
    const { groups, ignored } = await scanGroups(directory);
    for (const what of ignored) if (!this.#warned.has(what)) logger.warn(`template ignored: ${what}`);
    this.#warned = new Set(ignored);
    const before = pathsOf(this.#groups);
    const after = pathsOf(groups);
    this.#groups = groups;
    for (const [path, [group, name]] of after) if (!before.has(path)) onAppeared(group, name);
    for (const [path, [group, name]] of before) if (!after.has(path)) onDisappeared(group, name);
  }
}

function pathsOf(groups: ReadonlyMap<string, readonly string[]>): Map<string, readonly [string, string]> {
  const paths = new Map<string, readonly [string, string]>();
  for (const [group, names] of groups) for (const name of names) paths.set(`${group}/${name}`, [group, name]);
  return paths;
}

interface GroupScan {
  /** The templates of each group, both in order. A group without templates is listed too. */
  readonly groups: ReadonlyMap<string, readonly string[]>;
  /** Entries that look like a group or template but cannot be used, each with the reason. */
  readonly ignored: readonly string[];
}

/** Reads the names. A missing directory has no groups. Throws the system's error when the directory cannot be read. */
export async function scanGroups(directory: string): Promise<GroupScan> {
  const ignored: string[] = [];
  const groups = new Map<string, readonly string[]>();
  for (const group of await namesIn(directory, '', ignored)) {
    groups.set(group, await namesIn(`${directory}/${group}`, `${group}/`, ignored));
    if (await isAbsentSubmodule(`${directory}/${group}`)) ignored.push(`${group} ${ABSENT_SUBMODULE}`);
  }
  if (await isAbsentSubmodule(directory)) ignored.push(`the whole directory ${ABSENT_SUBMODULE}`);
  return { groups, ignored };
}

async function namesIn(directory: string, prefix: string, ignored: string[]): Promise<string[]> {
  const names: string[] = [];
  for (const entry of await entriesOf(directory)) {
    const kind = kindOf(entry);
    // Files beside the templates (a README) and hidden directories of tools (.git) are no mistake.
    if (kind === 'file' || kind === 'other' || entry.name.startsWith('.')) continue;
    const path = prefix + entry.name;
    if (kind === 'link') ignored.push(`${path} is a symbolic link`);
    else if (nameSchema.safeParse(entry.name).success) names.push(entry.name);
    else ignored.push(`${path} has a name that a template or group cannot have`);
  }
  return names.sort();
}

async function entriesOf(directory: string) {
  return (await readdir(directory, { withFileTypes: true }).catch(ignoring('ENOENT', 'ENOTDIR'))) ?? [];
}
