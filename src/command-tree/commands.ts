/**
 * All commands of Drover, in the order of the help. The commands of extensions are not here: only a master has them.
 */
import type { CommandDescription, CommandFailure, View } from './command.js';
import { CLUSTER_COMMANDS } from './groups/cluster.js';
import { CONFIGURATION_COMMANDS } from './groups/configurations.js';
import { EXTENSION_COMMANDS } from './groups/extensions.js';
import { INSTANCE_COMMANDS } from './groups/instances.js';
import { KEY_COMMANDS, SESSION_COMMANDS } from './groups/keys.js';
import { NODE_COMMANDS, STOP_COMMANDS } from './groups/node.js';
import { NODE_OPERATION_COMMANDS } from './groups/node-operations.js';
import { ROLLOUT_COMMANDS } from './groups/rollouts.js';
import { SCHEDULE_COMMANDS } from './groups/schedules.js';
import { SECRET_COMMANDS } from './groups/secrets.js';
import { TEMPLATE_COMMANDS } from './groups/templates.js';
import { TOKEN_COMMANDS } from './groups/tokens.js';
import type { Asker } from './selection/act.js';

/** The meaning of the first words of commands, for the help. */
export const GROUPS: Readonly<Record<string, string>> = {
  instance: 'instances: the processes that run',
  config: 'configurations: what should run',
  rollout: 'rollouts: how changed configurations reach what runs',
  schedule: 'schedules: what is done at which times',
  template: 'templates: file trees for working directories',
  cluster: 'the cluster as a whole',
  'cluster token': 'tokens with which nodes join',
  node: 'the node that this command runs on',
  key: 'keys of the API',
  session: 'sessions of browsers and people, made with a key',
  secret: 'secrets: values that only programs get',
  extension: 'extensions of this node',
  webhook: 'webhooks: where events are told',
};

const COMMANDS = {
  ...INSTANCE_COMMANDS,
  ...CONFIGURATION_COMMANDS,
  ...ROLLOUT_COMMANDS,
  ...SCHEDULE_COMMANDS,
  ...TEMPLATE_COMMANDS,
  ...CLUSTER_COMMANDS,
  ...NODE_OPERATION_COMMANDS,
  ...TOKEN_COMMANDS,
  ...NODE_COMMANDS,
  ...KEY_COMMANDS,
  ...SESSION_COMMANDS,
  ...SECRET_COMMANDS,
  ...EXTENSION_COMMANDS,
  ...STOP_COMMANDS,
};

/** The words of a command, such as `instance list`. */
export type CommandPath = keyof typeof COMMANDS;
export type InputOf<P extends CommandPath> =
  (typeof COMMANDS)[P] extends CommandDescription<infer Input, infer _Data> ? Input : never;
export type DataOf<P extends CommandPath> =
  (typeof COMMANDS)[P] extends CommandDescription<infer _Input, infer Data> ? Data : never;

/** What a running command gets from its caller. */
export interface RunCall {
  /** Aborts when the caller no longer waits for the command. */
  readonly signal: AbortSignal;
  /** Prints lines for people before the command is done. Says nothing to programs. */
  say(text: string): void;
  /**
   * Asks a person before the command acts on anything but a single named instance. Throws unless the answer is yes.
   */
  readonly confirm: Asker;
}

/** What the commands do: calls of the API. */
export type CommandRuns = {
  readonly [P in CommandPath]: (input: InputOf<P>, call: RunCall) => DataOf<P> | Promise<DataOf<P>>;
};

/** The result of a command in every form of output. */
export interface Shown {
  json(): unknown;
  text(view: View): string | Promise<string>;
  /** True: the text is data, such as JSON or a log, so its lines are not wrapped. */
  readonly isVerbatim?: boolean | undefined;
  /** The names of the found objects, for `-o name`; undefined: the objects have no names. */
  readonly names: (() => readonly string[]) | undefined;
  /** The part that failed; undefined: everything was done. */
  readonly failure?: CommandFailure | undefined;
  /** The Markdown of the result; undefined: the command does not offer Markdown. */
  readonly markdown?: () => string;
}

/** A description whose type parameters do not matter. */
type AnyDescription = Omit<CommandDescription<never, never>, 'input'> & {
  readonly input: (...typed: never[]) => unknown;
};

/** The path of each command, in the order of the help. */
export const COMMAND_PATHS = Object.keys(COMMANDS) as readonly CommandPath[];

export function descriptionOf(path: CommandPath): AnyDescription {
  return COMMANDS[path];
}

/** True for a command of Drover that may destroy something. `path`: words, such as `instance delete`. */
export function mayDestroy(path: string): boolean {
  const known = COMMAND_PATHS.find((one) => one === path);
  return known !== undefined && descriptionOf(known).destroys !== undefined;
}

/**
 * Runs a command. `input`: the typed words, as the command's description parsed them. Throws the errors of the run.
 */
export async function runCommand(
  runs: CommandRuns,
  path: CommandPath,
  input: unknown,
  call: RunCall,
): Promise<Shown> {
  // The cast is safe because description and run have the same path; TypeScript cannot see that.
  const { text, json, names, failure, isVerbatim } = descriptionOf(path);
  const run = runs[path] as (input: unknown, call: RunCall) => unknown;
  const data = (await run(input, call)) as never;
  return {
    json: () => (json === undefined ? data : json(data)),
    text: (view) => text(data, view, input as never),
    names: names && (() => names(data)),
    failure: failure?.(data),
    isVerbatim,
  };
}
