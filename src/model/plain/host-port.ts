/** An address and a port as one text, as in a URL: an IPv6 address stands in brackets. */

export interface HostPort {
  readonly host: string;
  readonly port: number;
}

const FORM = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/;
const MOST = 65_535;

export function hostPort(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** True for a host that is always this machine. */
export function isLoopback(host: string): boolean {
  return /^(?:127(?:\.\d+){3}|::1|(?:.+\.)?localhost\.?)$/i.test(host);
}

/** Undefined: the text has another form. */
export function parseHostPort(text: string): HostPort | undefined {
  const [, ipv6, name, digits] = FORM.exec(text) ?? [];
  const host = ipv6 ?? name;
  const port = Number(digits);
  return host === undefined || port < 1 || port > MOST ? undefined : { host, port };
}
