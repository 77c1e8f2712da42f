/**
 * Ranges of addresses, such as `10.0.0.0/8` or `2001:db8::/32`. An IPv4 address that a system writes as IPv6
 * (`::ffff:10.0.0.1`) counts as the IPv4 address.
 */
import { BlockList, isIP } from 'node:net';

export const ADDRESS_RANGE_RULE =
  'must be an address or a range of addresses, such as "10.0.0.0/8", "192.0.2.7" or "2001:db8::/32"';
const MAPPED = /^::ffff:(?=\d+\.)/i;
const MAPPED_BITS = 96;
const IPV4_BITS = 32;
const IPV6_BITS = 128;

/** A limit that no valid range reaches. */
export const MAX_RANGE_CHARS = 64;

interface Range {
  readonly address: string;
  readonly bits: number;
  readonly family: 'ipv4' | 'ipv6';
}

/** Ranges to compare addresses with. Built once; `has` may be called for every request. */
export class AddressRanges {
  /** Each family has its own list: in a common list `::/0` would match IPv4 addresses too. */
  readonly #lists = { ipv4: new BlockList(), ipv6: new BlockList() };

  /** Throws when `isAddressRange` refuses one of the texts. */
  constructor(texts: readonly string[]) {
    for (const text of texts) {
      const range = parseRange(text);
      if (range === undefined) throw new RangeError(`${JSON.stringify(text)} ${ADDRESS_RANGE_RULE}`);
      this.#lists[range.family].addSubnet(range.address, range.bits, range.family);
    }
  }

  /** True when a range contains the address; false also for a text that is no address. */
  has(address: string): boolean {
    // A link-local address may carry the name of its interface after `%`.
    const [plain = ''] = address.replace(MAPPED, '').split('%', 1);
    const version = isIP(plain);
    if (version === 0) return false;
    const family = version === 4 ? 'ipv4' : 'ipv6';
    return this.#lists[family].check(plain, family);
  }
}

/** True for a text that `ADDRESS_RANGE_RULE` describes. */
export function isAddressRange(text: string): boolean {
  return text.length <= MAX_RANGE_CHARS && parseRange(text) !== undefined;
}

function parseRange(text: string): Range | undefined {
  const [written = '', length, ...rest] = text.split('/');
  const address = written.replace(MAPPED, '');
  const version = isIP(address);
  if (version === 0 || address.includes('%') || rest.length > 0) return undefined;
  const most = version === 4 ? IPV4_BITS : IPV6_BITS;
  if (length === undefined) return { address, bits: most, family: version === 4 ? 'ipv4' : 'ipv6' };
  if (!/^\d{1,3}$/.test(length)) return undefined;
  const bits = Number(length) - (address === written ? 0 : MAPPED_BITS);
  if (bits < 0 || bits > most) return undefined;
  return { address, bits, family: version === 4 ? 'ipv4' : 'ipv6' };
}
