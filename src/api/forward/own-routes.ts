/**
 * Sorts requests by their decoded path, as the router reads it: those that each of several masters answers itself, those
 * that anybody may send to the leader, and all others.
 */

import { attempt } from '../../model/plain/attempt.js';
import type { Scope } from '../http/route.js';

/** As in the router: the address before the path of a request to a proxy. */
const HOST = /^https?:\/\/[^/]*/i;
const API = /^\/api(?:\/|$)/;

export interface SortedRoute {
  /** The path with its prefix. */
  readonly path: string;
  readonly scope: Scope;
  readonly isOwn?: true | undefined;
}

export class OwnRoutes {
  readonly #own: ReadonlySet<string>;
  readonly #open: ReadonlySet<string>;

  constructor(routes: readonly SortedRoute[]) {
    this.#own = pathsOf(routes.filter(({ isOwn }) => isOwn === true));
    this.#open = pathsOf(routes.filter(({ isOwn, scope }) => isOwn !== true && scope === 'open'));
  }

  /**
   * True when each of several masters answers the request itself. These are the routes about the master, all pages
   * beside the API, and a path that cannot be decoded, which the router refuses.
   */
  isOwn(url: string): boolean {
    const path = decodedPath(url);
    return path === undefined || !API.test(path) || this.#own.has(path);
  }

  /** True when the leader answers, and reads the body before it knows whether the caller may send it. */
  isOpen(url: string): boolean {
    return this.#open.has(decodedPath(url) ?? '');
  }
}

function pathsOf(routes: readonly SortedRoute[]): ReadonlySet<string> {
  return new Set(routes.map(({ path }) => path));
}

/** The path without host, query and final slash, decoded; undefined: it cannot be decoded. */
function decodedPath(url: string): string | undefined {
  const [path = ''] = url.replace(HOST, '').split(/[?#]/, 1);
  return attempt(() => {
    const decoded = decodeURI(path);
    return decoded.length > 1 && decoded.endsWith('/') ? decoded.slice(0, -1) : decoded;
  });
}
