/**
 * A key as a WebSocket subprotocol, for browsers, which cannot set a header: the way Kubernetes does it. The client
 * offers `base64url.bearer.authorization.drover.<base64url of the key>` and one more subprotocol, which the server
 * selects: what holds a key is never sent back.
 */
const BEARER = 'base64url.bearer.authorization.';
const OURS = `${BEARER}drover.`;

/** The subprotocols that a client offers, in its order. */
export function offeredProtocols(header: string | undefined): string[] {
  const text = header?.trim() ?? '';
  return text === '' ? [] : text.split(',').map((part) => part.trim());
}

/** What may be selected and sent back. */
export function selectableProtocols(offered: Iterable<string>): string[] {
  return [...offered].filter((protocol) => !isBearer(protocol));
}

/** The one key among them; undefined for none, an empty one when it cannot be read, or when two differ. */
export function protocolToken(offered: readonly string[]): string | undefined {
  const tokens = new Set(offered.filter(isBearer).map(decode));
  const [token] = tokens;
  return tokens.size > 1 ? '' : token;
}

function isBearer(protocol: string): boolean {
  return protocol.startsWith(BEARER);
}

/** Unpadded and in the one right spelling. */
function decode(protocol: string): string {
  const encoded = protocol.slice(OURS.length);
  const bytes = Buffer.from(encoded, 'base64url');
  const isExact = protocol.startsWith(OURS) && bytes.toString('base64url') === encoded;
  return isExact ? bytes.toString('latin1') : '';
}
