/** Numbers as people read them. */

const WHOLE = new Intl.NumberFormat('en');
const ONE_DIGIT = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const MB_IN_GB = 1024;
const BYTES_IN_MB = 1024 * 1024;

export function count(value: number): string {
  return WHOLE.format(value);
}

/** `512 MB`, `1.5 GB`, `2 TB`. */
export function megabytes(value: number): string {
  if (value < MB_IN_GB) return `${WHOLE.format(Math.round(value))} MB`;
  if (value < MB_IN_GB * MB_IN_GB) return `${ONE_DIGIT.format(value / MB_IN_GB)} GB`;
  return `${ONE_DIGIT.format(value / MB_IN_GB / MB_IN_GB)} TB`;
}

export function bytes(value: number): string {
  return value < BYTES_IN_MB ? `${ONE_DIGIT.format(value / 1024)} KB` : megabytes(value / BYTES_IN_MB);
}

/** Of CPU as Drover counts it: 100 is one core. */
export function cores(cpu: number): string {
  return `${ONE_DIGIT.format(cpu / 100)} ${cpu === 100 ? 'core' : 'cores'}`;
}

/** `2.5 of 16 cores`. */
export function coresOf(used: number, all: number): string {
  return `${ONE_DIGIT.format(used / 100)} of ${cores(all)}`;
}

/** `1 instance`, `3 instances`. */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}
