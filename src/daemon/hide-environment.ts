/**
 * Takes the daemon's environment out of sight. The kernel shows the block of memory that a process was started with in
 * `/proc/<pid>/environ`, to every process of the same user, and so to instances. Deleting a variable changes nothing
 * there. This process goes on with copies, and overwrites that block by `/proc/self/mem`.
 */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';

/** What every process is told, and what tells an operator how this one was started. */
const SHOWN =
  /^(PATH|HOME|USER|LOGNAME|LANG|LANGUAGE|LC_[A-Z]+|TZ|SHELL|TERM|PWD|INVOCATION_ID|DROVER_CONTROL_GROUP|DROVER_RUN)$/;
/** The 50th field of `/proc/<pid>/stat`, counted from the third, the first after the name in parentheses. */
const ENV_START_AFTER_NAME = 47;

/**
 * Call it first in a process that has one thread of JavaScript. `process.env` reads the same as before. Returns why
 * the environment stays visible, or null. Repeatable; takes one or two milliseconds.
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

/** Where the hidden variables stand in the block. Each has a copy elsewhere when it is yielded. */
function* hiddenEntries(block: Buffer): Generator<{ readonly from: number; readonly to: number }> {
  for (let from = 0; from < block.length; ) {
    const end = block.indexOf(0, from);
    const to = end < 0 ? block.length : end;
    const equals = block.indexOf('=', from);
    const name = block.toString('utf8', from, equals < 0 || equals > to ? to : equals);
    if (name !== '' && !SHOWN.test(name)) {
      const value = process.env[name];
      // Setting a variable makes a new string for it; nothing uses the old one.
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
