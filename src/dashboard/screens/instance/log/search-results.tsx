/** The lines that were found, each a link to its place in the log. */
import { useEffect } from 'preact/hooks';
import { Button } from '../../../parts/button.js';
import { Failure } from '../../../parts/notes.js';
import { hrefOf } from '../../../router/place.js';
import { text } from '../text.js';
import { plainOf } from './ansi.js';
import { type Asked, type Found, type LogSearch, MOST_FOUND, markedParts, type SearchState } from './log-search.js';

/** How many characters of a long line are shown before the match. */
const BEFORE_CHARACTERS = 60;
const MOST_CHARACTERS = 400;

interface SearchResultsProps {
  readonly search: LogSearch;
  readonly asked: Asked;
  readonly id: string;
  readonly query: Readonly<Record<string, string>>;
  readonly line: number | null;
  readonly onStep: (by: 1 | -1) => void;
  readonly onClose: () => void;
}

export function SearchResults({ search, asked, id, query, line, onStep, onClose }: SearchResultsProps) {
  const { pattern, hasCapitals } = asked;
  useEffect(() => {
    search.start({ pattern, hasCapitals });
    return () => search.stop();
  }, [search, pattern, hasCapitals]);
  const state = search.state.value;
  const place = state.found.findIndex((found) => found.line === line);
  const canGoOn = state.next !== null && !state.isSearching && state.found.length < MOST_FOUND;
  return (
    <section class="surface found" aria-label={text.search.results}>
      <div class="inline found-head">
        <p role="status">{sentenceOf(state)}</p>
        {state.found.length > 0 && (
          <>
            {place >= 0 && <span class="number">{text.search.place(place + 1, state.found.length)}</span>}
            <Button onPress={() => onStep(-1)}>{text.search.newer}</Button>
            <Button onPress={() => onStep(1)}>{text.search.older}</Button>
          </>
        )}
        {state.isSearching && <Button onPress={() => search.stop()}>{text.search.stop}</Button>}
        {canGoOn && <Button onPress={() => search.further()}>{text.search.further}</Button>}
        <Button kind="quiet" onPress={onClose}>
          {text.search.close}
        </Button>
      </div>
      {state.problem !== null && (
        <Failure
          error={state.problem}
          onRetry={() => (state.next === null ? search.start(asked) : search.further())}
        />
      )}
      {state.found.length > 0 && (
        <ol class="found-lines">
          {state.found.map((found) => (
            <li key={found.line}>
              <a
                class="found-line d-flex gap-3"
                href={hrefOf(['instances', id], { ...query, line: `${found.line}` })}
                aria-current={found.line === line ? 'true' : undefined}
              >
                <span class="found-number">{found.line}</span>
                <span class="found-text">
                  <Marked found={found} asked={asked} />
                </span>
              </a>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

function Marked({ found, asked }: { readonly found: Found; readonly asked: Asked }) {
  const [before = '', ...parts] = markedParts(plainOf(found.text), asked);
  const start = before.length > BEFORE_CHARACTERS ? `…${before.slice(-BEFORE_CHARACTERS)}` : before;
  let room = MOST_CHARACTERS;
  return (
    <>
      {start}
      {parts.map((part, place) => {
        const shown = part.slice(0, Math.max(0, room));
        room -= part.length;
        return place % 2 === 0 ? <mark key={place}>{shown}</mark> : shown;
      })}
    </>
  );
}

function sentenceOf({ found, isSearching, next, problem }: SearchState): string {
  if (isSearching)
    return `${found.length > 0 ? `${text.search.found(found.length)}. ` : ''}${text.search.searching}`;
  if (problem !== null) return text.search.stopped;
  if (found.length >= MOST_FOUND) return text.search.most(MOST_FOUND);
  return `${text.search.found(found.length)} ${next === null ? text.search.all : text.search.upTo(next)}`;
}
