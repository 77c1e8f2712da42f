/** Ports for daemons and instances of tests: consecutive, free at this moment, and none that the system hands out itself. */
import { readFileSync } from 'node:fs';
import { checkPort } from '../../src/runtime/ports.js';

const LOWEST = 10_000;

/** The first of `count` consecutive ports that can be bound, TCP and UDP, on all addresses. */
export async function freePorts(count: number): Promise<number> {
  for (;;) {
    // Above lie the source ports of connections, which would come into the way by chance.
    const first = LOWEST + Math.floor(Math.random() * (lowestEphemeral() - LOWEST - count));
    const checks = await Promise.all(Array.from({ length: count }, (_, index) => checkPort(first + index)));
    if (checks.every(({ free }) => free)) return first;
  }
}

function lowestEphemeral(): number {
  return Number(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split(/\s+/)[0]);
}
