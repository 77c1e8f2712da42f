/**
 * Checks a command for an instance's standard input, whoever sends it: whether a process can read it, and its length.
 */
import { DroverError } from '../../model/errors.js';
import type { InstanceRecord } from '../../model/instance.js';

const NEWLINE = 0x0a;
/** The longest line: a terminal in line mode silently cuts lines at 4,095 bytes. */
const MAX_STDIN_LINE_BYTES = 4000;

/**
 * Throws DRV_INSTANCE_NOT_RUNNING when no process can read a command, or get a signal. A missing pid shows that; the state alone does
 * not, because an app may have reported any state.
 */
export function requireProcess({ id, placement, status }: InstanceRecord, what = 'commands'): void {
  if (placement !== null && (status.state === 'ONLINE' || status.pid !== null)) return;
  throw new DroverError(
    'DRV_INSTANCE_NOT_RUNNING',
    `instance ${id} is ${status.state} and takes no ${what}: start it first, or wait until it is ONLINE`,
  );
}

/** The bytes of a command, ended by a newline. Throws DRV_STDIN_TOO_LONG, naming `field`. */
export function stdinCommand(command: string, field: string): Buffer {
  const bytes = Buffer.from(command.endsWith('\n') ? command : `${command}\n`);
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(NEWLINE, start);
    if (end - start > MAX_STDIN_LINE_BYTES)
      throw new DroverError(
        'DRV_STDIN_TOO_LONG',
        `${field}: a line of ${end - start} bytes is longer than a terminal takes ` +
          `(${MAX_STDIN_LINE_BYTES}): send it in several lines`,
      );
    start = end + 1;
  }
  return bytes;
}
