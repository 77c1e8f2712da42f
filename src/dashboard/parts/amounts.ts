/** Values as people read them. */
import type { InstanceInfo } from '../../model/instance.js';
import { hostPort } from '../../model/plain/host-port.js';

/** Shown in place of a missing value. */
export const NOTHING = '–';

const WHOLE = new Intl.NumberFormat('en');
const ONE_DIGIT = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const MB_IN_GB = 1024;
export const BYTES_IN_MB = 1024 * 1024;

export function count(value: number): string {
  return WHOLE.format(value);
}

/** An amount of memory, such as `512 MB`, `1.5 GB` or `2 TB`. */
export function megabytes(value: number): string {
  if (value < MB_IN_GB) return `${WHOLE.format(Math.round(value))} MB`;
  if (value < MB_IN_GB * MB_IN_GB) return `${ONE_DIGIT.format(value / MB_IN_GB)} GB`;
  return `${ONE_DIGIT.format(value / MB_IN_GB / MB_IN_GB)} TB`;
}

/** A share of memory, such as `1.2 GB of 4 GB`. */
export function megabytesOf(used: number, all: number): string {
  return `${megabytes(used)} of ${megabytes(all)}`;
}

export function bytes(value: number): string {
  return value < BYTES_IN_MB ? `${ONE_DIGIT.format(value / 1024)} KB` : megabytes(value / BYTES_IN_MB);
}

/** An amount of CPU in cores. Drover counts 100 for one core. */
export function cores(cpu: number): string {
  return `${ONE_DIGIT.format(cpu / 100)} ${cpu === 100 ? 'core' : 'cores'}`;
}

/** A share of cores, such as `2.5 of 16 cores`. */
export function coresOf(used: number, all: number): string {
  return `${ONE_DIGIT.format(used / 100)} of ${cores(all)}`;
}

/** A number with its noun, such as `1 instance` or `3 instances`. */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** The address of an instance; '': it has none. */
export function addressOf({ hostAddress = '', allocatedPort }: InstanceInfo): string {
  if (hostAddress === '' || allocatedPort === undefined) return hostAddress;
  return hostPort(hostAddress, allocatedPort);
}
