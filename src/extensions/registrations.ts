/**
 * All additions of extensions to this node, each with its key and its owner. An extension that fails loses all of its
 * additions.
 */

import { DroverError } from '../model/errors.js';
import { isBuiltInVariable, nameSchema } from '../model/names.js';
import { LOCAL_STORAGE } from '../model/template.js';
import type { Runtime } from '../runtime/runtime.js';
import type { StorageProvider } from '../templates/storage/storage-provider.js';
import type { ExtensionCommand, NodeEventListener, VariableContext } from './extension.js';

const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/;
const COMMAND_NAME = /^[a-z][a-z0-9-]{0,31}$/;

/** The words that Drover's own commands use or will use. */
const OWN_COMMANDS: ReadonlySet<string> = new Set(
  'instance config rollout schedule template cluster node key session secret extension webhook audit help stop exit quit clear history'.split(
    ' ',
  ),
);
const OWN_RUNTIMES: ReadonlySet<string> = new Set(['process', 'screen', 'tmux', 'docker']);

export type VariableValue = (instance: VariableContext) => string;

interface Kinds {
  readonly runtime: Runtime;
  readonly storage: StorageProvider;
  readonly variable: VariableValue;
  readonly command: ExtensionCommand;
  readonly listener: NodeEventListener;
}

interface Registration<T> {
  readonly owner: string;
  readonly value: T;
}

/** The rules for the keys of each kind. A returned text names the problem with the key. */
const RULES: { readonly [Kind in keyof Kinds]: (key: string) => string | undefined } = {
  runtime: (key) => {
    if (!nameSchema.safeParse(key).success) return 'is no valid name';
    return OWN_RUNTIMES.has(key) ? "is one of Drover's own" : undefined;
  },
  storage: (key) => {
    if (!nameSchema.safeParse(key).success) return 'is no valid name';
    return key === LOCAL_STORAGE ? "is the master's own templates/" : undefined;
  },
  variable: (key) => {
    if (!VARIABLE_NAME.test(key)) return 'is no name that a variable can have';
    return isBuiltInVariable(key) ? "is one of Drover's own" : undefined;
  },
  command: (key) => {
    if (!COMMAND_NAME.test(key)) return 'is not one word of lower-case letters, digits and "-"';
    return OWN_COMMANDS.has(key) ? "is one of Drover's own" : undefined;
  },
  listener: () => undefined,
};

export class Registrations {
  readonly #registered: { readonly [Kind in keyof Kinds]: Map<string, Registration<Kinds[Kind]>> } = {
    runtime: new Map(),
    storage: new Map(),
    variable: new Map(),
    command: new Map(),
    listener: new Map(),
  };

  /** Adds a value. Throws DRV_EXTENSION_FAILED when the key is not allowed, or taken. */
  add<Kind extends keyof Kinds>(kind: Kind, key: string, value: Kinds[Kind], owner: string): void {
    const problem = RULES[kind](key) ?? this.#takenBy(kind, key);
    if (problem !== undefined)
      throw new DroverError('DRV_EXTENSION_FAILED', `${kind} ${JSON.stringify(key)} ${problem}`);
    this.#registered[kind].set(key, { owner, value });
  }

  /** All values of one kind by key, in the order of registration. */
  entries<Kind extends keyof Kinds>(kind: Kind): [string, Kinds[Kind]][] {
    return [...this.#registered[kind]].map(([key, { value }]) => [key, value]);
  }

  get<Kind extends keyof Kinds>(kind: Kind, key: string): Kinds[Kind] | undefined {
    return this.#registered[kind].get(key)?.value;
  }

  /** The additions of `owner` as texts for people: `storage main`, `variable %NAME%`. */
  describe(owner: string): string[] {
    const described: string[] = [];
    for (const [kind, registered] of Object.entries(this.#registered))
      for (const [key, registration] of registered)
        if (registration.owner === owner) described.push(labelOf(kind, key));
    return [...new Set(described)];
  }

  /** Removes all additions of `owner`. Repeatable. */
  withdraw(owner: string): void {
    for (const registered of Object.values(this.#registered))
      for (const [key, registration] of registered) if (registration.owner === owner) registered.delete(key);
  }

  #takenBy(kind: keyof Kinds, key: string): string | undefined {
    const holder = this.#registered[kind].get(key)?.owner;
    return holder === undefined ? undefined : `is taken by extension ${holder}`;
  }
}

function labelOf(kind: string, key: string): string {
  if (kind === 'listener') return 'event listener';
  return kind === 'variable' ? `variable %${key}%` : `${kind} ${key}`;
}
