/** Finds a program, again at every call, because tools come and go while a node runs. */
import { accessSync, constants, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';

/** The first program of this name in the absolute directories of `path` (as in PATH); undefined: no such program. */
export function findProgram(name: string, path: string): string | undefined {
  return path
    .split(':')
    .filter((directory) => isAbsolute(directory))
    .map((directory) => join(directory, name))
    .find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
