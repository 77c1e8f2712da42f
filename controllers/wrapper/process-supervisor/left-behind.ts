/** Names what the end of a main process left behind. A server that makes itself a daemon is told how to stay. Pure. */
import { countText, listText } from '../../../src/model/words.js';
import type { Handle } from '../../../src/node/handle.js';

const MOST_NAMED = 5;

/** The switch that keeps a known server in the foreground, by the first characters of its process's name, 15 at most. */
const IN_FOREGROUND: readonly (readonly [name: string, how: string])[] = [
  ['nginx', "nginx -g 'daemon off;'"],
  ['redis-server', '--daemonize no'],
  ['valkey-server', '--daemonize no'],
  ['mosquitto', 'mosquitto without -d'],
  ['murmurd', '-fg'],
  ['mumble-server', '-fg'],
  ['memcached', 'memcached without -d'],
  ['apache2', '-DFOREGROUND'],
  ['httpd', '-DFOREGROUND'],
  ['lighttpd', '-D'],
  ['haproxy', 'haproxy without -D'],
  ['php-fpm', '--nodaemonize'],
  ['postgres', 'postgres itself, not pg_ctl'],
  ['mysqld', 'mysqld without --daemonize'],
  ['mariadbd', 'mariadbd itself, not its service script'],
  ['gunicorn', 'gunicorn without --daemon'],
  ['uwsgi', 'uwsgi without --daemonize'],
  ['dnsmasq', '--keep-in-foreground'],
  ['named', '-f'],
  ['unbound', '-d'],
  ['squid', '--foreground'],
  ['sshd', '-D'],
  ['prosody', '-F'],
  ['proftpd', '--nodaemon'],
  ['tor', '--RunAsDaemon 0'],
  ['supervisord', '--nodaemon'],
];

/** `1 process (redis-server)`. */
export function leftText(left: readonly string[]): string {
  const names = [...new Set(left)];
  const count = countText(left.length, 'process', 'processes');
  return names.length === 0 ? 'processes' : `${count} (${listText(names, MOST_NAMED)})`;
}

/** The cause of an end with code 0 that left processes behind; undefined: the end is no sign of a daemon. */
export function causeOfLeft(
  exit: { readonly code: number | null },
  left: readonly string[],
): string | undefined {
  if (exit.code !== 0) return undefined;
  const hints = IN_FOREGROUND.filter(([name]) => left.some((one) => one.startsWith(name)));
  const how = hints.length === 0 ? '' : ` (${hints.map(([, switched]) => switched).join('; ')})`;
  const was = left.length === 1 ? 'was' : 'were';
  return `its main process ended with code 0 and left ${leftText(left)} that ${was} in its group: run it in the foreground${how}`;
}

/** Says for the log what was left, and that the node ends it. */
export function describeLeft({ stop, exit }: Handle, left: readonly string[]): string {
  const cause = exit === null ? undefined : causeOfLeft(exit, left);
  const begun = cause === undefined ? `has ended and left ${leftText(left)}` : `has ended: ${cause}`;
  const them = left.length === 1 ? 'It is' : 'They are';
  return `${begun}. ${them} ended before the next start, by ${stop.signal} and ${stop.timeoutMs / 1000} s`;
}
