/**
 * The place of the operator: the screen and all settings of it, in the fragment of the address, as in
 * `#/instances?sort=name`. The server sees none of it, and every address can be sent to a colleague.
 */

export interface Place {
  /** The decoded parts: `#/instances/a1f1so` is `['instances', 'a1f1so']`. */
  readonly path: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

/** The names of a query that change; undefined removes a name. */
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

/** A stray `%` in a hand-typed address is kept as it is, so that the page shows something. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
