/** `drover events` and `drover exits`: what happened in the cluster lately, and how instances ended unasked. */
import { jsonLine, plainLines } from '../../command-tree/printed-text.js';
import { queryOf } from '../../command-tree/runs/api-calls.js';
import type { ShownEvent } from '../../model/event.js';
import type { ShownExit } from '../../model/exit-record.js';
import { wrapText } from '../../model/plain/wrap-text.js';
import { instantText } from '../../model/words.js';
import type { ApiClient } from '../api-client.js';
import { followTopics } from './followed-topics.js';
import type { LiveOutput } from './live-output.js';

export interface EventsWanted {
  readonly configuration: string | undefined;
  readonly node: string | undefined;
  /** Unix milliseconds. */
  readonly since: number | undefined;
  readonly isFollowed: boolean;
  readonly isJson: boolean;
  readonly columns: number | undefined;
}

/** Prints the events, the newest last, and each later one when it happens. An event that happens again comes again. */
export async function printEvents(api: ApiClient, wanted: EventsWanted, output: LiveOutput): Promise<void> {
  const { configuration, node, since, isFollowed, isJson, columns } = wanted;
  const lineOf = (event: ShownEvent): string =>
    isJson ? jsonLine(event) : sentenceOf(event.until, event.text, columns);
  const events = await api.get<readonly ShownEvent[]>(`/events?${queryOf({ configuration, node, since })}`);
  const printed = new Map(events.map(({ id, until }) => [id, until]));
  if (!(await output.write(events.map(lineOf).join(''))) || !isFollowed) return;
  const filter = {
    ...(configuration !== undefined && { configuration: [configuration] }),
    ...(node !== undefined && { node: [node] }),
  };
  const start = events.at(-1)?.until ?? since ?? 0;
  for await (const followed of followTopics(api.connection, { events: { filter } }, output)) {
    const news = [...followed.events.values()]
      .filter(({ id, until }) => until >= start && until > (printed.get(id) ?? -1))
      .sort((a, b) => a.until - b.until);
    for (const { id, until } of news) printed.set(id, until);
    if (news.length > 0 && !(await output.write(news.map(lineOf).join('')))) return;
  }
}

/** Prints the ends, the newest last, each with what it wrote last. `wanted`: the query. */
export async function printExits(
  api: ApiClient,
  wanted: Readonly<Record<string, string | number | undefined>>,
  { isJson, columns }: Pick<EventsWanted, 'isJson' | 'columns'>,
  output: LiveOutput,
): Promise<void> {
  const exits = await api.get<readonly ShownExit[]>(`/exits?${queryOf(wanted)}`);
  const textOf = (exit: ShownExit): string => {
    if (isJson) return jsonLine(exit);
    const lines = (exit.lines ?? []).map((line) => `    | ${line}`);
    return [sentenceOf(exit.at, exit.text, columns), ...lines.map(plainLines)].join('');
  };
  await output.write(exits.map(textOf).join(''));
}

/** A line with its time, at most as wide as the terminal. */
function sentenceOf(at: number, text: string, columns: number | undefined): string {
  const line = `${instantText(at)}  ${text}`;
  return plainLines(columns === undefined ? line : wrapText(line, columns));
}
