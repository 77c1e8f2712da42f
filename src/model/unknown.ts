/**
 * The errors for unknown names and ids. The store, the explanations and the API throw them, and the API adds the name
 * that was probably meant. A message repeats only a well-formed name, because a client may have typed anything.
 */
import { DroverError, type ErrorCode } from './errors.js';
import { nameSchema } from './names.js';

const KINDS = {
  configuration: { code: 'DRV_CONFIGURATION_UNKNOWN', list: '"config list" shows all' },
  instance: { code: 'DRV_INSTANCE_UNKNOWN', list: '"instance list" shows all' },
  node: { code: 'DRV_NODE_UNKNOWN', list: '"cluster nodes" shows all' },
  key: { code: 'DRV_KEY_UNKNOWN', list: '"key list" shows all' },
} as const satisfies Record<string, { readonly code: ErrorCode; readonly list: string }>;

/** The kinds of things that clients name. */
export type NamedKind = keyof typeof KINDS;

export class UnknownNameError extends DroverError {
  readonly kind: NamedKind;
  /** The name that was looked for, as it was typed. */
  readonly typed: string;

  /** `meant`: the name to suggest; undefined: the message says where all of them are listed. */
  constructor(kind: NamedKind, typed: string, meant?: string) {
    const { code, list } = KINDS[kind];
    const which = nameSchema.safeParse(typed).success ? `${kind} "${typed}"` : `such ${kind}`;
    super(code, `there is no ${which}${meant === undefined ? `: ${list}` : `. Did you mean ${meant}?`}`);
    this.kind = kind;
    this.typed = typed;
  }
}

const unknownOf =
  (kind: NamedKind) =>
  (typed: string): DroverError =>
    new UnknownNameError(kind, typed);

export const unknownConfiguration = unknownOf('configuration');
export const unknownInstance = unknownOf('instance');
export const unknownNode = unknownOf('node');
export const unknownKey = unknownOf('key');

/** The record of the instance exists, but is set aside because it cannot be read. `problem`: what is wrong with it. */
export function unreadableInstance(id: string, problem: string): DroverError {
  return new DroverError(
    'DRV_INSTANCE_UNKNOWN',
    `the record of instance ${id} cannot be read (${problem}): it is kept as it is, and what runs of it is left alone. "instance delete ${id}" removes both`,
  );
}

/** A configuration was named where an instance is meant. */
export function configurationNamed(name: string): DroverError {
  return new DroverError(
    'DRV_INSTANCE_UNKNOWN',
    `${name} is a configuration, not an instance: "instance list ${name}" shows its instances, --configuration ${name} takes all of them, "config restart ${name}" restarts them step by step`,
  );
}

export function unknownRollout(name: string): DroverError {
  return new DroverError(
    'DRV_ROLLOUT_UNKNOWN',
    `configuration ${name} has had no rollout: its "update" has the strategy "manual", or it has none`,
  );
}
