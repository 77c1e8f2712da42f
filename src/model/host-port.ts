/** An address and a port as one text, as in a URL: an IPv6 address stands in brackets. */
export function hostPort(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
