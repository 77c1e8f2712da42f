/**
 * The `%NAME%` variables of an instance, and their replacement in text and files. Replacement is literal and takes
 * one pass: a value is never looked at again, and an unknown name stays as it is. Commands are replaced in
 * command-variables.ts, because there values must not become shell text.
 */
import type { Configuration } from '../../model/configuration.js';
import { type OwnPorts, portsOf, portVariable } from '../../model/fields/ports.js';
import { SECRET_VARIABLE } from '../../model/fields/secret.js';
import { isBuiltInVariable, type Placeholder, placeholdersIn } from '../../model/names.js';

/** The sources from which the variables are made. */
export interface VariableFacts {
  readonly instance: OwnPorts & { readonly id: string; readonly hostAddress: string };
  readonly configuration: Pick<Configuration, 'name' | 'ramMB' | 'cpu' | 'properties'>;
  /** The working directory as the program sees it, an absolute path. */
  readonly workingDirectory: string;
  readonly node: { readonly nodeId: string; readonly address: string };
  /** `ip` is the resolved `address`. */
  readonly master: {
    readonly address: string;
    readonly ip: string;
    readonly port: number;
    readonly apiPort: number;
  };
  /** Variables that extensions add; properties win over them. */
  readonly added?: Variables;
}

export type Variables = ReadonlyMap<string, string>;

const LONGEST_PLACEHOLDER = 130;
const PERCENT = 0x25;

/**
 * Makes all variables of one instance. Properties never override a built-in name, or a port. An instance without a
 * port has no PORT variable, and `%PORT%` stays as it is.
 */
export function buildVariables(facts: VariableFacts): Variables {
  const { instance, configuration, workingDirectory, node, master, added } = facts;
  const variables = new Map(added);
  for (const [name, value] of Object.entries(configuration.properties)) {
    if (!isBuiltInVariable(name)) variables.set(name, value);
  }
  for (const { name, port } of portsOf(instance)) variables.set(portVariable(name), String(port));
  return variables
    .set('INSTANCE_ID', instance.id)
    .set('CONFIGURATION_NAME', configuration.name)
    .set('NODE_ID', node.nodeId)
    .set('HOST_ADDRESS', instance.hostAddress)
    .set('NODE_ADDRESS', node.address)
    .set('MASTER_ADDRESS', master.address)
    .set('MASTER_IP', master.ip)
    .set('MASTER_PORT', String(master.port))
    .set('MASTER_API_PORT', String(master.apiPort))
    .set('WORKING_DIRECTORY', workingDirectory)
    .set('RAM_MB', String(configuration.ramMB))
    .set('CPU', String(configuration.cpu));
}

/** The variables with those of secrets, for texts that no other user of the machine sees. */
export function withSecrets(
  variables: Variables,
  secrets: ReadonlyMap<string, string> = new Map(),
): Variables {
  const named = [...secrets].map(([name, value]) => [SECRET_VARIABLE + name, value] as const);
  return named.length === 0 ? variables : new Map([...variables, ...named]);
}

/** Replaces every known `%NAME%` of `text`. */
export function substitute(text: string, variables: Variables): string {
  let result = '';
  let done = 0;
  for (const { name, start, end } of findPlaceholders(text, variables)) {
    result += text.slice(done, start) + (variables.get(name) ?? '');
    done = end;
  }
  return done === 0 ? text : result + text.slice(done);
}

/** The placeholders of `text` that have a value, in order. */
export function findPlaceholders(text: string, variables: Variables): Generator<Placeholder> {
  return placeholdersIn(text, (name) => variables.has(name));
}

/** Like `substitute`, for a file: bytes outside of the placeholders stay as they are, whatever their encoding. */
export function substituteBytes(bytes: Buffer, variables: Variables): Buffer {
  const parts: Buffer[] = [];
  let done = 0;
  for (const { name, start, end } of findInBytes(bytes, (known) => variables.has(known))) {
    parts.push(bytes.subarray(done, start), Buffer.from(variables.get(name) ?? ''));
    done = end;
  }
  return done === 0 ? bytes : Buffer.concat([...parts, bytes.subarray(done)]);
}

/** The names in placeholders of a file that `isWanted` accepts, in order. */
export function* namesInBytes(bytes: Buffer, isWanted: (name: string) => boolean): Generator<string> {
  for (const { name } of findInBytes(bytes, isWanted)) yield name;
}

function* findInBytes(bytes: Buffer, isKnown: (name: string) => boolean): Generator<Placeholder> {
  for (let start = bytes.indexOf(PERCENT); start !== -1; ) {
    const close = bytes.indexOf(PERCENT, start + 1);
    if (close === -1) return;
    const length = close + 1 - start;
    const name =
      length > 2 && length <= LONGEST_PLACEHOLDER ? bytes.toString('latin1', start + 1, close) : undefined;
    if (name !== undefined && isKnown(name)) {
      yield { name, start, end: close + 1 };
      start = bytes.indexOf(PERCENT, close + 1);
    } else {
      start = close;
    }
  }
}
