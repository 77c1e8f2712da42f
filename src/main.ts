#!/usr/bin/env node
/** The executable. */
import { readFileSync } from 'node:fs';
import { buildProgram } from './cli/program.js';
import { DroverError } from './model/errors.js';
import { SourceStacks } from './telemetry/source-stack.js';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

buildProgram(version)
  .parseAsync()
  .catch((error: unknown) => {
    process.stderr.write(`drover: ${error instanceof DroverError ? error.message : stackOf(error)}\n`);
    process.exit(1);
  });

function stackOf(error: unknown): string {
  return error instanceof Error ? new SourceStacks().translate(error.stack ?? error.message) : String(error);
}
