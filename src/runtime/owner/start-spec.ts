/** Finds what no process can be given, before anything is started. */
import { DroverError } from '../../model/errors.js';
import { isInstanceId } from '../../model/names.js';
import type { StartSpec } from '../runtime.js';

/** Throws DRV_RUNTIME_START_FAILED. */
export function checkSpec(spec: StartSpec): void {
  const problem = problemOf(spec);
  if (problem !== undefined) throw new DroverError('DRV_RUNTIME_START_FAILED', problem);
}

/** Values that the system would cut short in silence. */
function problemOf({ instanceId, command, environment }: StartSpec): string | undefined {
  if (!isInstanceId(instanceId)) return `"${instanceId}" is not an instance id`;
  if (command.includes('\0')) return 'command holds a NUL byte, which no process can be given';
  for (const [name, value] of Object.entries(environment)) {
    if (name === '' || /[=\0]/.test(name)) return `environment variable "${name}": the name is not valid`;
    if (value.includes('\0')) return `environment variable ${name} holds a NUL byte`;
  }
  return undefined;
}
