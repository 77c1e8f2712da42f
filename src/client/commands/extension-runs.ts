/** Asks a master for the commands of its extensions, and runs such a command there. */
import { plainLines } from '../../command-tree/printed-text.js';
import { type CallOptions, pathPart } from '../../command-tree/runs/api-calls.js';
import { failedError } from '../../command-tree/runs/client-error.js';
import { toPlainText } from '../../telemetry/plain-text.js';
import type { ApiClient } from '../api-client.js';
import type { TargetOptions } from '../contexts/choose-target.js';
import { write } from '../print.js';
import { within } from '../within.js';
import type { ClientHost } from './client-host.js';

/**
 * Short, because an unknown command is usually a typing error: its message must not wait for an unreachable master.
 */
const PATIENCE_MS = 2000;

interface ExtensionCommand {
  readonly name: string;
  /** The command's arguments, as the help shows them; may be empty. */
  readonly usage: string;
  readonly description: string;
}

/**
 * Lists extension commands for the help. Returns undefined when no master is chosen, or when the answer takes too long.
 * Never runs a key command, because it may ask for a password. Never throws.
 */
export function askExtensionCommands(
  host: ClientHost,
  options: TargetOptions,
  limitMs: number,
): Promise<readonly ExtensionCommand[] | undefined> {
  return within(limitMs, async (signal) => {
    const api = await host.open(options);
    return api.connection.mayAskPerson ? undefined : listCommands(api, { signal });
  });
}

/**
 * Runs an extension's command and prints its output. Resolves with false when no master is chosen, or when the master
 * does not confirm in time that the command exists. Throws a ClientError for the command's own error.
 */
export async function runExtensionCommand(
  host: ClientHost,
  options: TargetOptions,
  [name, ...words]: readonly [string, ...string[]],
): Promise<boolean> {
  const api = await host.open(options).catch(() => undefined);
  // The time limit excludes the time in which a person types a password.
  const known = await (api && listCommands(api, { timeoutMs: PATIENCE_MS }).catch(() => undefined));
  if (api === undefined || known?.some((one) => one.name === name) !== true) return false;
  const path = `/extensions/commands/${pathPart(name)}`;
  type Answer = { readonly output: string; readonly isOk: boolean };
  const { output, isOk } = await api.send<Answer>('POST', path, { words });
  const failure = isOk ? undefined : /(?<=^|\n)error: ([^\n]*)\n$/.exec(output);
  const text = output.slice(0, failure?.index ?? output.length);
  // Make the text plain again here: a proxy that answers instead of the master may not have done so.
  await write(host.surroundings.stdout, text === '' ? '' : plainLines(text));
  if (isOk) return true;
  throw failedError(toPlainText(failure?.[1] ?? `${name} failed`));
}

function listCommands(api: ApiClient, options: CallOptions): Promise<readonly ExtensionCommand[]> {
  return api.send('GET', '/extensions/commands', undefined, options);
}
