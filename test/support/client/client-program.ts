/** Runs the built client as a child process, and keeps its output and exit. Needs `npm run build`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { REPOSITORY } from '../repository-root.js';

export const CLIENT = join(REPOSITORY, 'dist/main.js');

export interface ClientRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface ClientOptions {
  /** The whole environment of the process. */
  readonly environment: NodeJS.ProcessEnv;
  readonly directory: string;
  readonly input?: string;
}

/** Runs `drover` with these words. */
export async function runClient(
  words: readonly string[],
  { environment, directory, input = '' }: ClientOptions,
): Promise<ClientRun> {
  const child = spawn(process.execPath, [CLIENT, ...words], { env: environment, cwd: directory });
  child.stdin.on('error', () => undefined).end(input);
  const [stdout, stderr] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    child.exitCode ?? once(child, 'close'),
  ]);
  return { code: child.exitCode, stdout, stderr };
}
