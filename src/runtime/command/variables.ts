/**
 * The `%NAME%` variables of an instance, and their replacement in text and files. Replacement is literal and takes
 * one pass: a value is never looked at again, and an unknown name stays as it is. Commands are replaced in
 * command-variables.ts, because there values must not become shell text.
 */
import type { Configuration } from '../../model/configuration.js';

/** The sources of the variables. */
export interface VariableFacts {
  readonly instance: { readonly id: string; readonly port: number | null; readonly hostAddress: string };
  readonly configuration: Pick<Configuration, 'name' | 'ramMB' | 'cpu' | 'properties'>;
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

const BUILT_IN_NAMES: ReadonlySet<string> = new Set([
  'PORT',
  'INSTANCE_ID',
  'CONFIGURATION_NAME',
  'NODE_ID',
  'HOST_ADDRESS',
  'NODE_ADDRESS',
  'MASTER_ADDRESS',
  'MASTER_IP',
  'MASTER_PORT',
  'MASTER_API_PORT',
  'RAM_MB',
  'CPU',
]);

/** True for the names of Drover's own variables, which properties and extensions cannot set. */
export function isBuiltInVariable(name: string): boolean {
  return BUILT_IN_NAMES.has(name);
}

/** `%NAME%`; the same names that the configuration schema allows for properties. */
const PLACEHOLDER = /%([A-Za-z_][A-Za-z0-9_.-]{0,127})%/g;
const LONGEST_PLACEHOLDER = 130;
const PERCENT = 0x25;

/** A placeholder found in a text: `[start, end)` and its name. */
export interface Placeholder {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Makes all variables of one instance. Properties never override a built-in name (see `ignoredProperties`). Without
 * a port there is no PORT: `%PORT%` then stays as it is (see `missingBuiltIns`).
 */
export function buildVariables({ instance, configuration, node, master, added }: VariableFacts): Variables {
  const variables = new Map(added);
  for (const [name, value] of Object.entries(configuration.properties)) {
    if (!BUILT_IN_NAMES.has(name)) variables.set(name, value);
  }
  if (instance.port !== null) variables.set('PORT', String(instance.port));
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
    .set('RAM_MB', String(configuration.ramMB))
    .set('CPU', String(configuration.cpu));
}

/** Properties that have no effect because their name is a built-in variable's; worth a warning. */
export function ignoredProperties(properties: Configuration['properties']): string[] {
  return Object.keys(properties).filter((name) => BUILT_IN_NAMES.has(name));
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
export function* findPlaceholders(text: string, variables: Variables): Generator<Placeholder> {
  // Made anew: a regular expression with `g` carries its place with it.
  const pattern = new RegExp(PLACEHOLDER);
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const [whole, name = ''] = match;
    if (variables.has(name)) yield { name, start: match.index, end: match.index + whole.length };
    // The closing % of an unknown name may be the opening one of the next.
    else pattern.lastIndex = match.index + whole.length - 1;
  }
}

/** Like `substitute`, for a file: bytes outside of the placeholders stay as they are, whatever their encoding. */
export function substituteBytes(bytes: Buffer, variables: Variables): Buffer {
  const parts: Buffer[] = [];
  let done = 0;
  for (const { name, start, end } of findInBytes(bytes, variables)) {
    parts.push(bytes.subarray(done, start), Buffer.from(variables.get(name) ?? ''));
    done = end;
  }
  return done === 0 ? bytes : Buffer.concat([...parts, bytes.subarray(done)]);
}

function* findInBytes(bytes: Buffer, variables: Variables): Generator<Placeholder> {
  const known = new Set(variables.keys());
  for (let start = bytes.indexOf(PERCENT); start !== -1; ) {
    const close = bytes.indexOf(PERCENT, start + 1);
    if (close === -1) return;
    const length = close + 1 - start;
    const name =
      length > 2 && length <= LONGEST_PLACEHOLDER ? bytes.toString('latin1', start + 1, close) : undefined;
    if (name !== undefined && known.has(name)) {
      yield { name, start, end: close + 1 };
      start = bytes.indexOf(PERCENT, close + 1);
    } else {
      start = close;
    }
  }
}

/** Built-in names in `content` that have no value here, such as PORT; worth a warning. */
export function missingBuiltIns(content: string | Buffer, variables: Variables): string[] {
  return [...BUILT_IN_NAMES].filter((name) => !variables.has(name) && content.includes(`%${name}%`));
}
