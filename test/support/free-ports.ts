/**
 * Ports for daemons and instances of tests: consecutive, free at this moment, and never given out by the system itself.
 */
import { readFileSync } from 'node:fs';
import { checkPort } from '../../src/runtime/ports.js';

const LOWEST = 10_000;
/**
 * Each worker of a run draws from a part of its own, so that no other worker chooses a port that is chosen but not
 * bound yet.
 */
const PARTS = 16;

/** The end of the last draw. Draws go on behind it, so that no port of a program that is down meanwhile is drawn again. */
let last: number | undefined;

/** The first of `count` consecutive ports that can be bound, for TCP and UDP, on all addresses. */
export async function freePorts(count: number): Promise<number> {
  // Higher ports are the source ports of connections, which would be taken by chance.
  const size = Math.floor((lowestEphemeral() - LOWEST) / PARTS);
  const lowest = LOWEST + (Number(process.env.VITEST_POOL_ID ?? 0) % PARTS) * size;
  for (;;) {
    const at = last ?? Math.floor(Math.random() * size);
    const first = lowest + (at + count > size ? 0 : at);
    last = first - lowest + count;
    const checks = await Promise.all(Array.from({ length: count }, (_, index) => checkPort(first + index)));
    if (checks.every(({ free }) => free)) return first;
  }
}

function lowestEphemeral(): number {
  return Number(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split(/\s+/)[0]);
}
