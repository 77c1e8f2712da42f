/**
 * `--watch` of commands that list. A terminal shows the list redrawn; other outputs get all rows once, then each
 * changed row.
 * Instances come from the change stream itself. Other lists hold more than their topic, so they are requested again at
 * each change.
 */
import { type CommandPath, type DataOf, descriptionOf, type InputOf } from '../../command-tree/commands.js';
import { byConfiguration } from '../../command-tree/groups/instance-text.js';
import { jsonLine, plainLines } from '../../command-tree/printed-text.js';
import { unlessTransient } from '../../command-tree/runs/client-error.js';
import { commandRuns } from '../../command-tree/runs/command-runs.js';
import { listedInstances } from '../../command-tree/runs/instance-runs.js';
import type { InstanceInfo } from '../../model/instance.js';
import type { ApiClient } from '../api-client.js';
import type { Format } from '../print.js';
import type { WantedTopics } from './followed-topics.js';
import type { LiveOutput } from './live-output.js';
import type { TerminalStream } from './live-screen.js';
import { type LiveView, quietCall, runView } from './live-view.js';

const EVERY_MS = 500;
/** How often the displayed ages and the times to a restart are updated. */
const REFRESH_MS = 1000;
/** Fields that change constantly, so a change in them alone is not printed. */
const VOLATILE: ReadonlySet<string> = new Set(['lastHeartbeat', 'beatAgeMs']);

/** How to split a list into items. */
interface ListForm<P extends CommandPath, Item> {
  /** The topics to subscribe to, with the other fields of each subscribe message. */
  readonly topics: (input: InputOf<P>) => WantedTopics;
  /** Builds the list from the stream. Absent or undefined: the list is requested again at each change. */
  readonly ofStream?: (instances: readonly InstanceInfo[], input: InputOf<P>) => DataOf<P> | undefined;
  readonly items: (data: DataOf<P>) => readonly Item[];
  readonly nameOf: (item: Item) => string;
  /** Returns list data that holds only these items. */
  readonly only: (items: readonly Item[]) => DataOf<P>;
}

interface WatchListOptions {
  readonly format: Format;
  /** Undefined: rows are printed line by line instead of redrawn. */
  readonly terminal: TerminalStream | undefined;
}

type Watch = (input: never) => Promise<void>;

/** Resolves when nobody reads the output any more. Throws a ClientError, also when the list itself is refused. */
export async function watchList(
  api: ApiClient,
  path: CommandPath,
  input: unknown,
  options: WatchListOptions,
  output: LiveOutput,
): Promise<void> {
  const watch =
    <P extends CommandPath, Item>(known: P, form: ListForm<P, Item>): Watch =>
    (typed: InputOf<P>) =>
      watchForm({ api, path: known, input: typed, form, options, output });
  const lists: Partial<Record<CommandPath, Watch>> = {
    'instance list': watch('instance list', {
      topics: ({ configuration }) => ({
        instances: configuration === undefined ? {} : { filter: { configuration: [configuration] } },
      }),
      // The stream does not tell groups.
      ofStream: (instances, listed) =>
        listed.group === undefined
          ? listedInstances({ instances: instances.toSorted(byConfiguration), groups: new Map() }, listed)
          : undefined,
      // A list of leftover directories has no rows to watch.
      items: (found) => ('directories' in found ? [] : found),
      nameOf: ({ id }) => id,
      only: (instances) => instances,
    }),
    'config list': watch('config list', {
      topics: () => ({ configurations: {}, instances: {} }),
      items: ({ configurations }) => configurations,
      nameOf: ({ name }) => name,
      only: (configurations) => ({ configurations, removed: [], brokenFiles: [], directory: null }),
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
  // The command's own parser has already checked this input.
  await lists[path]?.(input as never);
}

interface Listing<P extends CommandPath, Item> {
  readonly api: ApiClient;
  readonly path: P;
  readonly input: InputOf<P>;
  readonly form: ListForm<P, Item>;
  readonly options: WatchListOptions;
  readonly output: LiveOutput;
}

async function watchForm<P extends CommandPath, Item>(listing: Listing<P, Item>): Promise<void> {
  const { api, path, input, form, output } = listing;
  const { format, terminal } = listing.options;
  const ask = async (): Promise<DataOf<P>> => commandRuns(api)[path](input, quietCall(output.signal));
  // Ask once first, so that the same requests are refused as without --watch.
  let data: DataOf<P> = await ask();
  const clockSkewMs = api.now - Date.now();
  const textOf = (shown: DataOf<P>, columns?: number): string | Promise<string> => {
    const view = { columns: columns || undefined, now: Date.now() + clockSkewMs, isWide: format === 'wide' };
    return descriptionOf(path).text(shown as never, view, input as never);
  };
  const rowsOf = rowPrinter(form, format, textOf);
  const view: LiveView = {
    topics: form.topics(input),
    everyMs: EVERY_MS,
    refreshMs: REFRESH_MS,
    terminal,
    update: async ({ instances }) => {
      // Keep the old data when the master does not answer. The next change asks again.
      data = form.ofStream?.(instances.values(), input) ?? (await unlessTransient(ask())) ?? data;
    },
    draw: () => textOf(data, terminal?.columns),
    print: async () => output.write(await rowsOf(data)),
  };
  await runView(api, view, output);
}

/** Returns a function that prints the list rows that are new, changed or gone since its last call. */
function rowPrinter<P extends CommandPath, Item>(
  { items, nameOf, only }: ListForm<P, Item>,
  format: Format,
  textOf: (data: DataOf<P>) => string | Promise<string>,
): (data: DataOf<P>) => Promise<string> {
  let printed = new Map<string, string>();
  let hasHead = false;
  return async (data) => {
    const now = new Map(
      items(data).map((item) => [
        nameOf(item),
        JSON.stringify(item, (key, value: unknown) => (VOLATILE.has(key) ? undefined : value)),
      ]),
    );
    const changed = items(data).filter((item) => now.get(nameOf(item)) !== printed.get(nameOf(item)));
    const gone = [...printed.keys()].filter((name) => !now.has(name));
    printed = now;
    switch (format) {
      case 'json':
        return [
          ...changed.map((entry) => ({ type: 'put', entry })),
          ...gone.map((name) => ({ type: 'gone', name })),
        ]
          .map(jsonLine)
          .join('');
      case 'name':
        return changed.map((item) => plainLines(nameOf(item))).join('');
      default: {
        const lines = changed.length === 0 ? [] : tableLines(await textOf(only(changed)));
        const rows = hasHead ? lines.slice(1) : lines;
        hasHead ||= lines.length > 0;
        return [...rows, ...gone.map((name) => `${name}  gone`)].map(plainLines).join('');
      }
    }
  };
}

/** Returns the header and rows of a table; lines below the table are not rows. */
function tableLines(text: string): string[] {
  const lines = text.split('\n');
  const end = lines.indexOf('');
  return end < 0 ? lines : lines.slice(0, end);
}
