/** Asks the master for names to complete. What cannot be had in time is no name, without a word of why. */
import type { KnownWord } from '../../command-tree/help/wanted-word.js';
import { pathPart } from '../../command-tree/runs/api-calls.js';
import type { InstanceInfo } from '../../model/instance.js';
import type { ApiClient } from '../api-client.js';
import { chooseTarget, type Surroundings, type TargetOptions } from '../contexts/choose-target.js';
import { ContextFile } from '../contexts/context-file.js';
import { within } from '../within.js';
import type { NameSource } from './candidates.js';

/** Whoever presses Tab waits for it. */
const LIMIT_MS = 300;

export interface MasterNamesOptions extends Surroundings {
  readonly version: string;
  readonly target: TargetOptions;
  /** How long the master may take. Default: 300 ms. */
  readonly limitMs?: number;
}

export class MasterNames implements NameSource {
  readonly #options: MasterNamesOptions;

  constructor(options: MasterNamesOptions) {
    this.#options = options;
  }

  get #limitMs(): number {
    return this.#options.limitMs ?? LIMIT_MS;
  }

  async contexts(): Promise<readonly KnownWord[]> {
    const file = new ContextFile(this.#options.environment);
    const stored = await within(this.#limitMs, () => file.read());
    return [...(stored?.contexts.keys() ?? [])].sort().map((word) => ({ word, about: '' }));
  }

  instances(): Promise<readonly KnownWord[]> {
    return this.#ask('/instances', (all: readonly InstanceInfo[]) =>
      all.map(({ id, configurationName, state }) => ({ word: id, about: `${configurationName}, ${state}` })),
    );
  }

  configurations(): Promise<readonly KnownWord[]> {
    return this.#ask('/configurations', (all: readonly { readonly name: string }[]) =>
      all.map(({ name }) => ({ word: name, about: '' })),
    );
  }

  nodes(): Promise<readonly KnownWord[]> {
    return this.#ask('/cluster/nodes', (all: readonly { readonly nodeId: string }[]) =>
      all.map(({ nodeId }) => ({ word: nodeId, about: '' })),
    );
  }

  keys(): Promise<readonly KnownWord[]> {
    return this.#ask('/keys', (all: readonly { readonly label: string; readonly scope: string }[]) =>
      all.map(({ label, scope }) => ({ word: label, about: scope })),
    );
  }

  sessions(): Promise<readonly KnownWord[]> {
    return this.#ask('/sessions', idsOf);
  }

  joinTokens(): Promise<readonly KnownWord[]> {
    return this.#ask('/cluster/tokens', idsOf);
  }

  templates(): Promise<readonly KnownWord[]> {
    return this.#ask('/templates', (groups: readonly TemplateGroup[]) =>
      groups
        .flatMap(({ templates }) => templates)
        .map(({ group, name }) => ({ word: `${group}/${name}`, about: '' })),
    );
  }

  filesOf(template: string): Promise<readonly KnownWord[]> {
    const [group = '', name = ''] = template.split('/');
    return this.#ask(
      `/templates/${pathPart(group)}/${pathPart(name)}/files`,
      ({ files }: { readonly files: readonly string[] }) => files.map((word) => ({ word, about: '' })),
    );
  }

  extensionCommands(): Promise<readonly KnownWord[]> {
    return this.#ask('/extensions/commands', (all: readonly ListedCommand[]) =>
      all.map(({ name, description }) => ({ word: name, about: description })),
    );
  }

  async #ask<T>(path: string, read: (answer: T) => readonly KnownWord[]): Promise<readonly KnownWord[]> {
    const found = await within(this.#limitMs, async (signal) => {
      const api = await this.#open();
      return api === undefined ? [] : read(await api.send<T>('GET', path, undefined, { signal }));
    });
    return found ?? [];
  }

  /** Undefined: the key is that of a command, which may ask for a password. That is no answer to a Tab. */
  async #open(): Promise<ApiClient | undefined> {
    const { target: wanted, version, ...surroundings } = this.#options;
    const target = await chooseTarget(wanted, surroundings);
    if (target.key.kind === 'command') return undefined;
    const { HttpConnection } = await import('../connection/http-connection.js');
    const { ApiClient: Client } = await import('../api-client.js');
    return new Client(new HttpConnection(target, { version }));
  }
}

interface TemplateGroup {
  readonly templates: readonly { readonly group: string; readonly name: string }[];
}

interface ListedCommand {
  readonly name: string;
  readonly description: string;
}

function idsOf(all: readonly { readonly id: string }[]): KnownWord[] {
  return all.map(({ id }) => ({ word: id, about: '' }));
}
