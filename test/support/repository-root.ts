/** The place of this checkout, for tests that run from their sources and for built tests (`build/test`). */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

function rootAbove(directory: string): string {
  return existsSync(join(directory, 'package.json')) ? directory : rootAbove(dirname(directory));
}

/** The absolute path of the folder that holds `package.json`. */
export const REPOSITORY = rootAbove(dirname(fileURLToPath(import.meta.url)));
