/** Tells which requests each of several masters answers itself. All other requests go to the leader. */

/** In the API: its ping and its metrics. Beside the API: pages and their files. */
const OWN = /^\/(?:$|[?#]|(?!api(?:[/?#]|$))[^/]|api\/(?:ping|metrics)\/?(?:[?#]|$))/;

/** True when this master answers the request itself. `url`: the URL as in the head of the request. */
export function isOwnPath(url: string): boolean {
  return OWN.test(url);
}
