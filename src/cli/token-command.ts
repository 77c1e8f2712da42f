/** `drover token`: asks the master that runs in a directory for a join token, with the operator's key. */
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { readAdminKey } from '../api/access/admin-key-file.js';
import { DroverError } from '../model/errors.js';
import { readMainConfiguration } from '../node/main-configuration.js';
import { postToLocalApi } from './local-api.js';

export interface TokenOptions {
  readonly label?: string;
  readonly expires?: string;
  readonly uses?: string;
}

const answerSchema = z.object({ output: z.string() });

/** Returns the text to print. Throws DroverErrors with one clear line. */
export async function makeToken(root: string, options: TokenOptions): Promise<string> {
  const directory = resolve(root);
  const configuration = await readMainConfiguration(join(directory, 'config.json'));
  if (configuration === undefined)
    throw invalid(
      `there is no node in ${directory} (no config.json): give the master's directory with --root`,
    );
  if (!configuration.isMasterNode)
    throw invalid(
      `the node in ${directory} is not the master: run this on ${configuration.masterAddress}, in the master's directory`,
    );
  const key = await readAdminKey(join(directory, 'data', 'admin.key'));
  if (key.kind !== 'token')
    throw invalid(
      `${directory} has no data/admin.key: start Drover there once, or make a token with "cluster token create" at its prompt`,
    );
  const answer = await postToLocalApi({
    directory,
    configuration,
    key: key.token,
    path: '/commands/execute',
    body: { command: commandOf(options) },
  });
  const { output } = answerSchema.parse(answer);
  if (output.startsWith('error: ')) throw new DroverError('DRV_COMMAND_INVALID', output.slice(7).trim());
  return output;
}

function commandOf({ label, expires, uses }: TokenOptions): string {
  const words = ['cluster', 'token', 'create'];
  if (label !== undefined) words.push('--label', label);
  if (expires !== undefined) words.push('--expires', expires);
  if (uses !== undefined) words.push('--uses', uses);
  // Quoted as the command line of the console requires.
  return words.map((word) => (/^[\w.-]+$/.test(word) ? word : JSON.stringify(word))).join(' ');
}

function invalid(message: string): DroverError {
  return new DroverError('DRV_NODE_CONFIG_INVALID', message);
}
