/** Compares versions: client and master work together when their minor versions are equal or adjacent. */

/** Returns advice about two versions, or undefined when none is needed. */
export function skewText(client: string, master: string): string | undefined {
  const [own, other] = [versionOf(client), versionOf(master)];
  if (own === undefined || other === undefined) return undefined;
  if (own.major === other.major && own.minor === other.minor) return undefined;
  const isNear = own.major === other.major && Math.abs(own.minor - other.minor) === 1;
  const isOlder = other.major < own.major || (other.major === own.major && other.minor < own.minor);
  const lacks = isOlder
    ? 'the master may lack what this client offers'
    : 'this client may lack what the master offers';
  const versions = `this client is ${client}, the master ${master}`;
  return isNear
    ? `${versions}: ${lacks}`
    : `${versions}: more than one minor version lies between them, and commands may fail; ${lacks}`;
}

function versionOf(text: string): { readonly major: number; readonly minor: number } | undefined {
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(text) ?? [];
  return major === undefined || minor === undefined
    ? undefined
    : { major: Number(major), minor: Number(minor) };
}
