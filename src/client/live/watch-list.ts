/**
 * `--watch` of commands that list: drawn again on a terminal; else all rows once, then each row that changed. Instances come
 * from the change stream itself. Other lists hold more than their topic, so they are asked for again when it changes.
 */
import { type CommandPath, type DataOf, descriptionOf, type InputOf } from '../../command-tree/commands.js';
import { byConfiguration } from '../../command-tree/groups/instance-text.js';
import { jsonLine, plainLines } from '../../command-tree/printed-text.js';
import { isTransient } from '../../command-tree/runs/client-error.js';
import { commandRuns } from '../../command-tree/runs/command-runs.js';
import type { InstanceInfo } from '../../model/instance.js';
import { KEY_OF } from '../../watch-client/topics.js';
import { WatchedEntries } from '../../watch-client/watched-entries.js';
import type { ApiClient } from '../api-client.js';
import type { Format } from '../print.js';
import type { LiveOutput } from './live-output.js';
import { LiveScreen, type TerminalStream } from './live-screen.js';
import { runView } from './live-view.js';

const EVERY_MS = 500;
/** How often ages are drawn anew. */
const REFRESH_MS = 5000;
/** Fields that change by themselves. */
const VOLATILE: ReadonlySet<string> = new Set(['lastHeartbeat', 'beatAgeMs']);

/** How a list is taken apart. */
interface ListForm<P extends CommandPath, Item> {
  /** Each with the rest of its message. */
  readonly topics: (input: InputOf<P>) => Readonly<Record<string, object>>;
  /** Absent: it is asked for again. */
  readonly ofStream?: (instances: readonly InstanceInfo[]) => DataOf<P>;
  readonly items: (data: DataOf<P>) => readonly Item[];
  readonly nameOf: (item: Item) => string;
  /** A list of these alone. */
  readonly only: (items: readonly Item[]) => DataOf<P>;
}

export interface WatchListOptions {
  readonly format: Format;
  /** Undefined: rows are printed, and nothing is drawn. */
  readonly terminal: TerminalStream | undefined;
}

type Watch = (input: never) => Promise<void>;

/** Resolves when nobody reads any more. Throws a ClientError, also when the list itself is refused. */
export async function watchList(
  api: ApiClient,
  path: CommandPath,
  input: unknown,
  options: WatchListOptions,
  output: LiveOutput,
): Promise<void> {
  const watch = <P extends CommandPath, Item>(known: P, form: ListForm<P, Item>): Watch => {
    return (typed: InputOf<P>) => new ListWatch(api, known, typed, form, options, output).run();
  };
  const lists: Partial<Record<CommandPath, Watch>> = {
    'instance list': watch('instance list', {
      topics: ({ configuration }) => ({
        instances: configuration === undefined ? {} : { filter: { configuration: [configuration] } },
      }),
      ofStream: (instances) => instances.toSorted(byConfiguration),
      // Directories of instances that are gone cannot be watched.
      items: (found) => ('directories' in found ? [] : found),
      nameOf: ({ id }) => id,
      only: (instances) => instances,
    }),
    'config list': watch('config list', {
      topics: () => ({ configurations: {}, instances: {} }),
      items: ({ configurations }) => configurations,
      nameOf: ({ name }) => name,
      only: (configurations) => ({ configurations, removed: [], brokenFiles: [] }),
    }),
    'cluster nodes': watch('cluster nodes', {
      topics: () => ({ nodes: {} }),
      items: (nodes) => nodes,
      nameOf: ({ nodeId }) => nodeId,
      only: (nodes) => nodes,
    }),
    'template list': watch('template list', {
      topics: () => ({ templates: {}, configurations: {} }),
      items: (templates) => templates,
      nameOf: ({ group, name }) => `${group}/${name}`,
      only: (templates) => templates,
    }),
  };
  // The command itself has parsed what was typed.
  await lists[path]?.(input as never);
}

class ListWatch<P extends CommandPath, Item> {
  readonly #api: ApiClient;
  readonly #path: P;
  readonly #input: InputOf<P>;
  readonly #form: ListForm<P, Item>;
  readonly #options: WatchListOptions;
  readonly #output: LiveOutput;
  readonly #instances = new WatchedEntries(KEY_OF.instances);
  /** By name, what was printed. */
  #printed = new Map<string, string>();
  #hasHead = false;
  #clockSkewMs = 0;

  constructor(
    api: ApiClient,
    path: P,
    input: InputOf<P>,
    form: ListForm<P, Item>,
    options: WatchListOptions,
    output: LiveOutput,
  ) {
    this.#api = api;
    this.#path = path;
    this.#input = input;
    this.#form = form;
    this.#options = options;
    this.#output = output;
  }

  async run(): Promise<void> {
    // Refuses what the command without --watch refuses.
    let data = await this.#ask();
    this.#clockSkewMs = this.#api.now - Date.now();
    const { terminal } = this.#options;
    const screen = terminal === undefined ? undefined : new LiveScreen(this.#output, terminal);
    await runView(this.#api, {
      topics: this.#form.topics(this.#input),
      everyMs: EVERY_MS,
      refreshMs: screen === undefined ? undefined : REFRESH_MS,
      signal: this.#output.signal,
      say: (line) => (screen === undefined ? this.#output.say(line) : screen.setStatus(line)),
      take: (message) => {
        screen?.setStatus('');
        if (message.topic === 'instances') this.#instances.take(message);
      },
      show: async (isChanged) => {
        if (isChanged) data = (await this.#fresh()) ?? data;
        return screen === undefined
          ? this.#printRows(data)
          : screen.draw(await this.#text(data, terminal?.columns));
      },
    });
  }

  /** Undefined: the master does not answer now; it is asked again at its next change. */
  async #fresh(): Promise<DataOf<P> | undefined> {
    const { ofStream } = this.#form;
    if (ofStream !== undefined) return ofStream(this.#instances.values());
    try {
      return await this.#ask();
    } catch (error) {
      if (isTransient(error)) return undefined;
      throw error;
    }
  }

  async #ask(): Promise<DataOf<P>> {
    const { signal } = this.#output;
    return commandRuns(this.#api)[this.#path](this.#input, {
      signal,
      say: () => undefined,
      confirm: async () => undefined,
    });
  }

  async #text(data: DataOf<P>, columns: number | undefined): Promise<string> {
    const now = Date.now() + this.#clockSkewMs;
    const view = { columns: columns || undefined, now, isWide: this.#options.format === 'wide' };
    return descriptionOf(this.#path).text(data as never, view, this.#input as never);
  }

  async #printRows(data: DataOf<P>): Promise<boolean> {
    const { items, nameOf, only } = this.#form;
    const now = new Map(items(data).map((item) => [nameOf(item), JSON.stringify(item, withoutVolatile)]));
    const changed = items(data).filter((item) => now.get(nameOf(item)) !== this.#printed.get(nameOf(item)));
    const gone = [...this.#printed.keys()].filter((name) => !now.has(name));
    this.#printed = now;
    return this.#output.write(
      await this.#rows(changed.length === 0 ? undefined : only(changed), changed, gone),
    );
  }

  async #rows(
    list: DataOf<P> | undefined,
    changed: readonly Item[],
    gone: readonly string[],
  ): Promise<string> {
    switch (this.#options.format) {
      case 'json':
        return [
          ...changed.map((entry) => ({ type: 'put', entry })),
          ...gone.map((name) => ({ type: 'gone', name })),
        ]
          .map(jsonLine)
          .join('');
      case 'name':
        return changed.map((item) => plainLines(this.#form.nameOf(item))).join('');
      default: {
        const lines = list === undefined ? [] : tableLines(await this.#text(list, undefined));
        const rows = this.#hasHead ? lines.slice(1) : lines;
        this.#hasHead ||= lines.length > 0;
        return [...rows, ...gone.map((name) => `${name}  gone`)].map(plainLines).join('');
      }
    }
  }
}

function withoutVolatile(key: string, value: unknown): unknown {
  return VOLATILE.has(key) ? undefined : value;
}

/** Head and rows: what stands below a table is no row. */
function tableLines(text: string): string[] {
  const lines = text.split('\n');
  const end = lines.indexOf('');
  return end < 0 ? lines : lines.slice(0, end);
}
