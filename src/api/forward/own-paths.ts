/** Which requests each of several masters answers by itself. All others go to the leader. */

/** Of the API: whether it serves, and its figures. Beside the API: pages and their files. */
const OWN = /^\/(?:$|[?#]|(?!api(?:[/?#]|$))[^/]|api\/(?:ping|metrics)\/?(?:[?#]|$))/;

/** `url`: as it stands in the head of the request. */
export function isOwnPath(url: string): boolean {
  return OWN.test(url);
}
