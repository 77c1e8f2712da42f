/**
 * Says how much RAM and CPU placement may give out on a node. The limits of a single instance are in its
 * configuration.
 */
import { availableParallelism, totalmem } from 'node:os';
import type { NodeCapacity, NodeConfiguration } from '../model/node.js';

const MB = 1024 * 1024;
const UNITS_PER_CORE = 100;
/** Share of the machine's RAM that instances may be given when `maxRamMB` is not set. */
const DEFAULT_RAM_SHARE = 0.9;

interface Machine {
  readonly cores: number;
  readonly ramBytes: number;
}

export function thisMachine(): Machine {
  return { cores: availableParallelism(), ramBytes: totalmem() };
}

/**
 * The capacity that the node offers; `maxCpu` and `maxRamMB` replace the machine's values. CPU is offered
 * `cpuOvercommit` times, because few programs use their cores all the time. RAM is offered once, because a process
 * without RAM is killed.
 */
export function capacityOf(
  { maxRamMB, maxCpu, cpuOvercommit }: NodeConfiguration,
  { cores, ramBytes }: Machine,
): NodeCapacity {
  return {
    maxRamMB: maxRamMB ?? atLeastOne((ramBytes / MB) * DEFAULT_RAM_SHARE),
    maxCpu: maxCpu ?? atLeastOne(cores * UNITS_PER_CORE * cpuOvercommit),
  };
}

function atLeastOne(amount: number): number {
  return Math.max(1, Math.floor(amount));
}
