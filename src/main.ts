#!/usr/bin/env node
/** The executable. */
import { readFileSync } from 'node:fs';
import { buildProgram } from './cli/program.js';
import { endOf } from './client/end.js';
import { wrapText } from './model/plain/wrap-text.js';
import { SourceStacks } from './telemetry/source-stack.js';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

const typed = { '': '--help', version: '--version' }[process.argv.slice(2).join(' ')];

buildProgram(version)
  .parseAsync(typed === undefined ? process.argv : [...process.argv.slice(0, 2), typed])
  .catch((error: unknown) => {
    const { exitCode, message = stackOf(error) } = endOf(error);
    const { isTTY, columns } = process.stderr;
    const line = `drover: ${message}`;
    if (message !== '') process.stderr.write(`${isTTY && columns > 0 ? wrapText(line, columns) : line}\n`);
    process.exit(exitCode);
  });

function stackOf(error: unknown): string {
  return error instanceof Error ? new SourceStacks().translate(error.stack ?? error.message) : String(error);
}
