/**
 * Searches all lines that the node keeps of a log, from its end: one call after another, until enough is found or all
 * is searched.
 */
import { type ReadonlySignal, signal } from '@preact/signals';
import type { FoundInLog } from '../../../../api/routes/instances/log-routes.js';
import { type Api, apiPath } from '../../../api/api-client.js';

export interface Found {
  readonly line: number;
  readonly text: string;
}

export interface Asked {
  /** The text to find; `*` stands for any characters. */
  readonly pattern: string;
  readonly hasCapitals: boolean;
}

export interface SearchState {
  /** The lines that were found, the newest first. */
  readonly found: readonly Found[];
  readonly isSearching: boolean;
  /** The line before which the search continues; null: all lines are searched. */
  readonly next: number | null;
  /** Why the last call failed; null: the last call did not fail. */
  readonly problem: unknown;
}

/** How many lines are found before the search waits for the operator. */
const AT_ONCE = 100;
/** The most lines that a search finds: nobody reads more. */
export const MOST_FOUND = 1_000;

const NOTHING: SearchState = { found: [], isSearching: false, next: null, problem: null };

export class LogSearch {
  readonly #api: Pick<Api, 'get'>;
  readonly #id: string;
  readonly #state = signal<SearchState>(NOTHING);
  readonly state: ReadonlySignal<SearchState> = this.#state;
  #asked: Asked | null = null;
  #calls = new AbortController();

  constructor(api: Pick<Api, 'get'>, id: string) {
    this.#api = api;
    this.#id = id;
  }

  /** Begins a new search. An empty pattern finds no line. */
  start(asked: Asked): void {
    this.stop();
    this.#asked = asked;
    this.#state.value = NOTHING;
    if (asked.pattern !== '') void this.#search(undefined);
  }

  /** Continues where the search has stopped. */
  further(): void {
    const { next, isSearching, found } = this.#state.value;
    if (next !== null && !isSearching && found.length < MOST_FOUND) void this.#search(next);
  }

  /** Stops the search; the lines found so far stay. */
  stop(): void {
    this.#calls.abort();
    this.#calls = new AbortController();
    this.#state.value = { ...this.#state.value, isSearching: false };
  }

  async #search(from: number | undefined): Promise<void> {
    const { signal: ending } = this.#calls;
    const enough = Math.min(MOST_FOUND, this.#state.value.found.length + AT_ONCE);
    this.#state.value = { ...this.#state.value, isSearching: true, problem: null };
    try {
      let before = from;
      do {
        const answer = await this.#call(before, ending);
        if (ending.aborted) return;
        const { found } = this.#state.value;
        this.#state.value = {
          ...this.#state.value,
          found: [...found, ...answer.lines],
          next: answer.next,
          isSearching: answer.next !== null && found.length + answer.lines.length < enough,
        };
        before = answer.next ?? undefined;
      } while (this.#state.value.isSearching);
    } catch (problem) {
      if (!ending.aborted) this.#state.value = { ...this.#state.value, isSearching: false, problem };
    }
  }

  #call(before: number | undefined, ending: AbortSignal): Promise<FoundInLog> {
    const { pattern = '', hasCapitals = false } = this.#asked ?? {};
    return this.#api.get<FoundInLog>(apiPath('instances', this.#id, 'logs', 'search'), {
      query: { q: pattern, ignoreCase: !hasCapitals, limit: AT_ONCE, before },
      signal: ending,
    });
  }
}

/**
 * Splits a found line into parts. Every second part, from the second on, matches the pattern. Takes linear time for
 * any pattern.
 */
export function markedParts(line: string, { pattern, hasCapitals }: Asked): string[] {
  const same = (text: string): string => (hasCapitals ? text : text.toLowerCase());
  const [first, ...rest] = same(pattern)
    .split('*')
    .filter((piece) => piece !== '');
  if (first === undefined) return [line];
  const text = same(line);
  const parts: string[] = [];
  let from = 0;
  for (let start = text.indexOf(first); start >= 0; start = text.indexOf(first, from)) {
    let end = start + first.length;
    for (const piece of rest) {
      const place = text.indexOf(piece, end);
      // When a piece is missing behind this place, it is missing behind every later place, so there is no further
      // match.
      if (place < 0) return [...parts, line.slice(from)];
      end = place + piece.length;
    }
    parts.push(line.slice(from, start), line.slice(start, end));
    from = end;
  }
  return [...parts, line.slice(from)];
}
