/** The commands `extension list`, and those of webhooks. */
import type { ExtensionStatus } from '../../extensions/extension.js';
import type { ShownWebhook } from '../../model/webhook.js';
import { describe, noInput, tableOf } from '../command.js';

export const EXTENSION_COMMANDS = {
  'extension list': describe({
    about: 'all extensions, what they add, and which failed',
    input: noInput,
    text: (listed: readonly ExtensionStatus[], view) =>
      tableOf(
        view,
        ['ID', 'VERSION', 'STATE', 'ABOUT'],
        listed.map((status) => [status.id, status.version, status.state, aboutOf(status)]),
        'there are no extensions',
      ),
    names: (listed) => listed.map(({ id }) => id),
  }),
  'webhook list': describe({
    about: 'where events are told (files of webhooks/), and what could not be delivered',
    input: noInput,
    text: (listed: readonly ShownWebhook[], view) =>
      tableOf(
        view,
        ['NAME', 'SERVER', 'WAITING', 'LOST', 'PROBLEM'],
        listed.map(({ name, server, waiting, lost, problem }) => [name, server, waiting, lost, problem]),
        'there are no webhooks: write webhooks/<name>.json beside configurations/',
      ),
    names: (listed) => listed.map(({ name }) => name),
  }),
  'webhook test': describe({
    usage: '<name>',
    about: 'send a notice of no event to the receiver of a webhook',
    input: (name: string) => ({ name }),
    text: ({ name }: { readonly name: string }) => `the receiver of webhook ${name} took the test`,
    names: ({ name }) => [name],
  }),
};

/** Describes what the extension is and adds, or what is wrong with it. */
function aboutOf({ state, error, adds, description, name }: ExtensionStatus): string {
  if (error !== null) return state === 'active' ? `${adds.join(', ')}; last error: ${error}` : error;
  const parts = [adds.join(', '), description ?? name].filter((part) => part !== '');
  return parts.join('; ');
}
