/** `drover token`: asks the master that runs in a directory for a join token, with the operator's key. */
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { readAdminKey } from '../api/access/admin-key-file.js';
import { bindAddressOf } from '../api/http/bind-address.js';
import { DroverError } from '../model/errors.js';
import type { NodeConfiguration } from '../model/node.js';
import { systemReason } from '../model/public-message.js';
import { readMainConfiguration } from '../node/main-configuration.js';

export interface TokenOptions {
  readonly label?: string;
  readonly expires?: string;
  readonly uses?: string;
}

const TIMEOUT_MS = 30_000;

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
  const output = await execute(configuration, key.token, commandOf(options));
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

async function execute(configuration: NodeConfiguration, key: string, command: string): Promise<string> {
  const url = await apiUrl(configuration);
  const response = await fetch(`${url}/commands/execute`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ command }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error: unknown) => {
    const cause = error instanceof Error ? error.cause : undefined;
    throw new DroverError(
      'DRV_NODE_DISCONNECTED',
      `the master does not answer at ${url} (${systemReason(cause) ?? 'no answer'}): start it first`,
      { cause: error },
    );
  });
  if (!response.ok)
    throw new DroverError(
      'DRV_NODE_DISCONNECTED',
      `the server at ${url} is not this master, or it is not ready (status ${response.status})`,
    );
  return answerSchema.parse(await response.json()).output;
}

async function apiUrl(configuration: NodeConfiguration): Promise<string> {
  const bound = await bindAddressOf(configuration);
  const host = bound === '0.0.0.0' || bound === '::' ? '127.0.0.1' : bound;
  return `http://${host.includes(':') ? `[${host}]` : host}:${configuration.apiPort}/api`;
}

function invalid(message: string): DroverError {
  return new DroverError('DRV_NODE_CONFIG_INVALID', message);
}
