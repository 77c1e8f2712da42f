/**
 * The descriptors of this process that a new process would inherit. node-pty opens terminals without close-on-exec:
 * without a cure every instance could read the output and write the input of every other. Node cannot set the flag, so
 * shell-prelude.ts closes the descriptors that are named here.
 */
import { readdirSync, readFileSync } from 'node:fs';

const CLOSE_ON_EXEC = 0o2000000;
const FIRST_AFTER_STANDARD = 3;

/** True when `fd` is open and lacks close-on-exec. */
export function isInheritable(fd: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    return false;
  }
}

/** All inheritable descriptors but the standard three. Reads one file for each open descriptor. */
export function inheritableDescriptors(): number[] {
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((fd) => fd >= FIRST_AFTER_STANDARD && isInheritable(fd));
}
