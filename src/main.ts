#!/usr/bin/env node
/** The executable. */
import { readFileSync } from 'node:fs';
import { buildProgram } from './cli/program.js';
import { ClientError } from './client/client-error.js';
import { DroverError } from './model/errors.js';
import { SourceStacks } from './telemetry/source-stack.js';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

buildProgram(version)
  .parseAsync()
  .catch((error: unknown) => {
    const isOurs = error instanceof DroverError || error instanceof ClientError;
    process.stderr.write(`drover: ${isOurs ? error.message : stackOf(error)}\n`);
    process.exit(error instanceof ClientError ? error.exitCode : 1);
  });

function stackOf(error: unknown): string {
  return error instanceof Error ? new SourceStacks().translate(error.stack ?? error.message) : String(error);
}
