/**
 * Where the operator is: the screen and everything that he has set on it, all in the fragment of the address, as in
 * `#/instances?sort=name`. The server sees none of it, and every address can be sent to a colleague.
 */

export interface Place {
  /** Decoded parts: `#/instances/a1f1so` is `['instances', 'a1f1so']`. */
  readonly path: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

/** What of a query is to change; undefined takes a name away. */
export type QueryChanges = Readonly<Record<string, string | undefined>>;

export function readPlace(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s);
  return {
    path: path
      .split('/')
      .filter((part) => part !== '')
      .map(decode),
    query: Object.fromEntries(new URLSearchParams(query)),
  };
}

/** The address of a place, for `href`. */
export function hrefOf(path: readonly string[], query: QueryChanges = {}): string {
  const set = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as [string, string]],
  );
  const text = new URLSearchParams(set).toString();
  return `#/${path.map(encodeURIComponent).join('/')}${text === '' ? '' : `?${text}`}`;
}

/** A hand-typed `%` is no reason to show nothing. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
