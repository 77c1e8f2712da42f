/**
 * Lets one extension register its additions, until it is closed. It checks the shape of each addition and puts the
 * guard around it.
 */
import { z } from 'zod';
import { isDiskError } from '../files/system-error.js';
import type { Clock } from '../loop/clock.js';
import type { Runtime } from '../runtime/runtime.js';
import type { StorageProvider } from '../templates/storage/storage-provider.js';
import type { ExtensionCommand, ExtensionContext, NodeEventListener } from './extension.js';
import type { ExtensionGuard } from './extension-guard.js';
import { GuardedRuntime } from './guarded-runtime.js';
import type { Registrations, VariableValue } from './registrations.js';

const MAX_VALUE_CHARS = 32_768;
const RUNTIME_METHODS = [
  ...['probe', 'start', 'adopt', 'list', 'signal', 'isAlive', 'isGroupGone', 'write'],
  ...['acknowledge', 'onExit', 'onLost', 'release'],
];

/** A function; its parameters cannot be checked. */
export const functionSchema = z.custom<(...parameters: never[]) => unknown>(
  (value) => typeof value === 'function',
);
const commandShape = z.looseObject({
  name: z.string(),
  usage: z.string().max(200).optional(),
  description: z.string().max(500),
  run: functionSchema,
});
const storageShape = z.looseObject({ version: functionSchema, download: functionSchema });

type Registering = 'registerRuntime' | 'registerStorage' | 'registerVariable' | 'registerCommand' | 'on';

interface RegistrarOptions {
  readonly id: string;
  readonly guard: ExtensionGuard;
  readonly registrations: Registrations;
  readonly clock: Clock;
}

/** Each function is a field, so that it also works when an extension takes it out of its context. */
export class Registrar implements Pick<ExtensionContext, Registering> {
  readonly #options: RegistrarOptions;
  #isOpen = true;
  #listeners = 0;

  constructor(options: RegistrarOptions) {
    this.#options = options;
  }

  /** Refuses every later registration. */
  close(): void {
    this.#isOpen = false;
  }

  get #registrations(): Registrations {
    if (!this.#isOpen)
      throw new Error('register... and on may be called until activate has ended, not later');
    return this.#options.registrations;
  }

  readonly registerRuntime = (runtime: Runtime): void => {
    const { id, clock, guard } = this.#options;
    const missing = RUNTIME_METHODS.filter(
      (name) => typeof Reflect.get(Object(runtime), name) !== 'function',
    );
    if (missing.length > 0) throw new Error(`a runtime lacks ${missing.join(', ')}`);
    const guarded = new GuardedRuntime(runtime, guard, clock);
    this.#registrations.add('runtime', String(runtime.key), guarded, id);
  };

  readonly registerStorage = (key: string, provider: StorageProvider): void => {
    const { id, guard } = this.#options;
    if (!storageShape.safeParse(provider).success)
      throw new Error(`storage ${String(key)} lacks version() or download()`);
    // Errors of the node's disk pass unchanged, so that the master can tell them from errors of the storage.
    const guarded: StorageProvider = {
      version: (...asked) => guard.call(() => provider.version(...asked), isDiskError),
      download: (...asked) => guard.call(() => provider.download(...asked), isDiskError),
      ...(provider.list !== undefined && {
        list: (...asked) => guard.call(async () => (await provider.list?.(...asked)) ?? []),
      }),
    };
    this.#registrations.add('storage', String(key), guarded, id);
  };

  readonly registerVariable = (name: string, value: VariableValue): void => {
    const { id, guard } = this.#options;
    if (typeof value !== 'function')
      throw new Error(`variable ${String(name)} has no function for its value`);
    const guarded: VariableValue = (instance) => guard.callNow(() => checkedValue(name, value(instance)));
    this.#registrations.add('variable', String(name), guarded, id);
  };

  readonly registerCommand = (command: ExtensionCommand): void => {
    const { id, guard } = this.#options;
    const parsed = commandShape.safeParse(command);
    if (!parsed.success) throw new Error('a command needs name, description and run()');
    const { name, usage, description } = parsed.data;
    const run: ExtensionCommand['run'] = (args, { print, signal }) => {
      const io = { signal, print: (line: string) => guard.outside(() => print(String(line))) };
      return guard.call(() => command.run(args, io));
    };
    this.#registrations.add('command', name, { name, usage, description, run }, id);
  };

  readonly on = (listener: NodeEventListener): void => {
    const { id, guard } = this.#options;
    if (typeof listener !== 'function') throw new Error('on() needs a function');
    const guarded: NodeEventListener = (event) => guard.call(() => listener(event));
    this.#registrations.add('listener', `${id} ${++this.#listeners}`, guarded, id);
  };
}

function checkedValue(name: string, value: unknown): string {
  if (typeof value !== 'string' || value.length > MAX_VALUE_CHARS || value.includes('\0'))
    throw new Error(
      `the value of %${name}% is not a text of ${MAX_VALUE_CHARS} characters at most, without NUL`,
    );
  return value;
}
