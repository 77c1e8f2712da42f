/**
 * Hides the daemon's environment. In `/proc/<pid>/environ` the kernel shows the memory block that a process was started
 * with, to every process of the same user, and so to instances. Deleting a variable does not change that block. This
 * process goes on with copies, and overwrites the block through `/proc/self/mem`.
 */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';

/**
 * The variables that stay visible: variables that every process has, and variables that tell an operator how this
 * process was started.
 */
const SHOWN =
  /^(PATH|HOME|USER|LOGNAME|LANG|LANGUAGE|LC_[A-Z]+|TZ|SHELL|TERM|PWD|INVOCATION_ID|DROVER_CONTROL_GROUP|DROVER_RUN)$/;
/**
 * The index of the 50th field of `/proc/<pid>/stat`, counted from the third field, the first after the name in
 * parentheses.
 */
const ENV_START_AFTER_NAME = 47;

/**
 * Hides the environment. Call it first, in a process with one JavaScript thread. `process.env` keeps its values.
 * Returns why the environment stays visible, or null. Repeatable; takes one or two milliseconds.
 */
export function hideEnvironment(): string | null {
  try {
    const block = readFileSync('/proc/self/environ');
    const start = blockStart();
    const memory = openSync('/proc/self/mem', 'r+');
    try {
      for (const { from, to } of hiddenEntries(block))
        for (let at = from; at < to; ) at += writeSync(memory, Buffer.alloc(to - at), 0, to - at, start + at);
    } finally {
      closeSync(memory);
    }
    return null;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}

/**
 * Yields where the hidden variables are in the block. Each variable is copied elsewhere before its place is yielded.
 */
function* hiddenEntries(block: Buffer): Generator<{ readonly from: number; readonly to: number }> {
  for (let from = 0; from < block.length; ) {
    const end = block.indexOf(0, from);
    const to = end < 0 ? block.length : end;
    const equals = block.indexOf('=', from);
    const name = block.toString('utf8', from, equals < 0 || equals > to ? to : equals);
    if (name !== '' && !SHOWN.test(name)) {
      const value = process.env[name];
      // Set the variable again, which makes a new string: then nothing uses the old string any more.
      if (value !== undefined) process.env[name] = value;
      yield { from, to };
    }
    from = to + 1;
  }
}

function blockStart(): number {
  const stat = readFileSync('/proc/self/stat', 'latin1');
  const start = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[ENV_START_AFTER_NAME]);
  if (!Number.isSafeInteger(start) || start <= 0) throw new Error('the kernel does not say where it is');
  return start;
}
