/**
 * Several hosts on one machine: network namespaces joined by a bridge, each with an address of its own. A test can
 * cut a host off without a reset (its packets are lost) and join it again. Needs root and iproute2.
 */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';

/** The network of the hosts is 10.213.<random>.0/24, private addresses that a machine hardly uses. */
const FIRST_OCTETS = '10.213';
const SWITCH = 'switch';
/** The number of the test's own end, in the namespace that the test runs in. */
const TEST_HOST = 254;
/** A hardware address that no host has. */
const NO_HARDWARE = '02:00:00:00:00:01';

export class Hosts {
  readonly #id = randomBytes(3).toString('hex');
  readonly #net: string;
  readonly #names: readonly string[];
  readonly #isApart: boolean;

  private constructor(names: readonly string[], net: string | undefined) {
    this.#names = names;
    this.#net = net ?? `${FIRST_OCTETS}.${randomBytes(1)[0]}`;
    this.#isApart = net !== undefined;
  }

  /** Why there can be no hosts here, for a visible skip; undefined: they are possible. */
  static reasonForNone(): string | undefined {
    if (process.getuid?.() !== 0) return 'needs root';
    const hosts = new Hosts([], undefined);
    try {
      hosts.#make();
      return undefined;
    } catch (error) {
      return `network namespaces cannot be made: ${error instanceof Error ? error.message.split('\n')[0] : error}`;
    } finally {
      hosts.close();
    }
  }

  /**
   * Makes hosts with the addresses 1, 2 and so on. With a `net`, such as `10.0.0`, the hosts are separate: the test
   * does not reach them, so that the machine may use the same network numbers.
   */
  static create(names: readonly string[], net?: string): Hosts {
    const hosts = new Hosts(names, net);
    try {
      hosts.#make();
    } catch (error) {
      hosts.close();
      throw error;
    }
    return hosts;
  }

  addressOf(host: string): string {
    return `${this.#net}.${this.#numberOf(host)}`;
  }

  /** The words to put before a command so that it runs on the host, in the same process. */
  on(host: string): readonly string[] {
    return ['ip', 'netns', 'exec', this.#namespace(host)];
  }

  /** Cuts a host off: from now on every packet from or to it is lost, without an error. */
  cut(host: string): void {
    this.#inSwitch('link', 'set', this.#port(host), 'nomaster');
  }

  join(host: string): void {
    this.#inSwitch('link', 'set', this.#port(host), 'master', 'bridge');
  }

  /** Cuts two hosts off from each other: their packets are lost, without an error. Everything else goes on. */
  part(host: string, other: string): void {
    for (const [here, there] of [
      [host, other],
      [other, host],
    ] as const) {
      const neighbour = [
        'neigh',
        'replace',
        this.addressOf(there),
        'lladdr',
        NO_HARDWARE,
        'nud',
        'permanent',
      ];
      ip('-n', this.#namespace(here), ...neighbour, 'dev', this.#inside(this.#numberOf(here)));
    }
  }

  /** Joins two hosts again after `part`. */
  unite(host: string, other: string): void {
    for (const [here, there] of [
      [host, other],
      [other, host],
    ] as const) {
      const place = ['dev', this.#inside(this.#numberOf(here))];
      ip('-n', this.#namespace(here), 'neigh', 'del', this.addressOf(there), ...place);
    }
  }

  /** Removes all hosts. Idempotent. The caller ends the processes on them. */
  close(): void {
    for (const host of [...this.#names, SWITCH])
      try {
        ip('netns', 'delete', this.#namespace(host));
      } catch {
        // The namespace was never made, or was removed before.
      }
  }

  #make(): void {
    ip('netns', 'add', this.#namespace(SWITCH));
    this.#inSwitch('link', 'add', 'bridge', 'type', 'bridge');
    this.#inSwitch('link', 'set', 'bridge', 'up');
    for (const [index, host] of this.#names.entries()) {
      const namespace = this.#namespace(host);
      ip('netns', 'add', namespace);
      ip('-n', namespace, 'link', 'set', 'lo', 'up');
      this.#plug(host, namespace, index + 1);
    }
    if (!this.#isApart) this.#plug('test', undefined, TEST_HOST);
  }

  /** A cable from the switch to a namespace; undefined: the test's own namespace. */
  #plug(host: string, namespace: string | undefined, number: number): void {
    const port = this.#port(host);
    const inside = this.#inside(number);
    const peer = ['type', 'veth', 'peer', 'name', inside];
    this.#inSwitch('link', 'add', port, ...peer, 'netns', namespace ?? String(process.pid));
    this.#inSwitch('link', 'set', port, 'master', 'bridge', 'up');
    const place = namespace === undefined ? [] : ['-n', namespace];
    ip(...place, 'address', 'add', `${this.#net}.${number}/24`, 'dev', inside);
    ip(...place, 'link', 'set', inside, 'up');
  }

  #inSwitch(...parameters: string[]): void {
    ip('-n', this.#namespace(SWITCH), ...parameters);
  }

  #numberOf(host: string): number {
    const at = this.#names.indexOf(host);
    if (at < 0) throw new Error(`there is no host ${host}`);
    return at + 1;
  }

  /** The name of the host's end of its cable. */
  #inside(number: number): string {
    return `d${this.#id}${number}`;
  }

  #namespace(host: string): string {
    return `drover-${this.#id}-${host}`;
  }

  #port(host: string): string {
    return `p${this.#id}${host}`.slice(0, 15);
  }
}

function ip(...parameters: string[]): void {
  execFileSync('ip', parameters, { stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' });
}
