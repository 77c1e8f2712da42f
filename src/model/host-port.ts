/** An address and a port as operators write them: `10.0.0.1:6000`, `master.example:6000`, `[fd00::1]:6000`. */

export interface HostPort {
  readonly host: string;
  readonly port: number;
}

const FORM = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/;
const MOST = 65_535;

/** Undefined: the text has another form. */
export function parseHostPort(text: string): HostPort | undefined {
  const [, ipv6, name, digits] = FORM.exec(text) ?? [];
  const host = ipv6 ?? name;
  const port = Number(digits);
  return host === undefined || port < 1 || port > MOST ? undefined : { host, port };
}

export function hostPortText({ host, port }: HostPort): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
