/** Finds a program, again at every call, because tools come and go while a node runs. */
import { accessSync, constants, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { attempt } from '../../model/plain/attempt.js';

/** The first program of this name in the absolute directories of `path` (as in PATH); undefined: no such program. */
export function findProgram(name: string, path: string): string | undefined {
  return path
    .split(':')
    .filter((directory) => isAbsolute(directory))
    .map((directory) => join(directory, name))
    .find(isProgram);
}

/** Like `findProgram`. Throws an Error for the operator when there is none. */
export function requireProgram(name: string, path: string): string {
  const found = findProgram(name, path);
  if (found === undefined) throw new Error(`${name} is not installed on this node; install it`);
  return found;
}

function isProgram(file: string): boolean {
  return attempt(() => {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  }, false);
}
