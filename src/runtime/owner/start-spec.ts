/** Checks a start for values that no process can be given, before anything is started. */
import { isInstanceId } from '../../model/names.js';
import { startFailed } from '../failures.js';
import type { StartSpec } from '../runtime.js';

/** Throws DRV_RUNTIME_START_FAILED when the system cannot pass on a value of the start. */
export function checkSpec(spec: StartSpec): void {
  const problem = problemOf(spec);
  if (problem !== undefined) throw startFailed(problem);
}

/** The first value that the system would cut short without an error, as a message; undefined: none. */
function problemOf({ instanceId, command, environment }: StartSpec): string | undefined {
  if (!isInstanceId(instanceId)) return `"${instanceId}" is not an instance id`;
  if (command.includes('\0')) return 'command holds a NUL byte, which no process can be given';
  for (const [name, value] of Object.entries(environment)) {
    if (name === '' || /[=\0]/.test(name)) return `environment variable "${name}": the name is not valid`;
    if (value.includes('\0')) return `environment variable ${name} holds a NUL byte`;
  }
  return undefined;
}
