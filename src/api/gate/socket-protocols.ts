/**
 * Reads a key from WebSocket subprotocols, as Kubernetes does, because browsers cannot set a header. The client offers
 * `base64url.bearer.authorization.drover.<base64url of the key>` and a second subprotocol. The server selects the
 * second, so that it never sends a key back.
 */
const BEARER = 'base64url.bearer.authorization.';
const OURS = `${BEARER}drover.`;

/** The subprotocols that the client offers, in its order. */
export function offeredProtocols(header: string | undefined): string[] {
  const text = header?.trim() ?? '';
  return text === '' ? [] : text.split(',').map((part) => part.trim());
}

/** The subprotocols that hold no key. The server may select one of them and send it back. */
export function selectableProtocols(offered: Iterable<string>): string[] {
  return [...offered].filter((protocol) => !isBearer(protocol));
}

/**
 * The key among the subprotocols; undefined: there is none. An empty text when it cannot be read, or when two keys
 * differ.
 */
export function protocolToken(offered: readonly string[]): string | undefined {
  const tokens = new Set(offered.filter(isBearer).map(decode));
  const [token] = tokens;
  return tokens.size > 1 ? '' : token;
}

function isBearer(protocol: string): boolean {
  return protocol.startsWith(BEARER);
}

/** Decodes a key. Only the canonical spelling is accepted, which has no padding. */
function decode(protocol: string): string {
  const encoded = protocol.slice(OURS.length);
  const bytes = Buffer.from(encoded, 'base64url');
  const isExact = protocol.startsWith(OURS) && bytes.toString('base64url') === encoded;
  return isExact ? bytes.toString('latin1') : '';
}
