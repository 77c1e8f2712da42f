#!/usr/bin/env node
/** The executable. */
import { readFileSync } from 'node:fs';
import { buildProgram } from './cli/program.js';
import { DroverError } from './model/errors.js';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

buildProgram(version)
  .parseAsync()
  .catch((error: unknown) => {
    process.stderr.write(
      `drover: ${error instanceof DroverError ? error.message : (error as Error).stack}\n`,
    );
    process.exit(1);
  });
