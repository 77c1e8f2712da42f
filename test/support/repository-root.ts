/** Where this checkout lies, for tests that run as they are written and as they are built (`build/test`). */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

function rootAbove(directory: string): string {
  return existsSync(join(directory, 'package.json')) ? directory : rootAbove(dirname(directory));
}

/** Absolute path of the folder that holds `package.json`. */
export const REPOSITORY = rootAbove(dirname(fileURLToPath(import.meta.url)));
