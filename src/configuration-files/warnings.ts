/**
 * Finds parts of a valid configuration that lack the effect that was probably meant: unknown fields, and variables
 * without a value. Pure. The node reports what only it can know, such as a missing file.
 */
import { type Configuration, configurationSchema } from '../model/configuration.js';
import { portVariable } from '../model/fields/ports.js';
import { SECRET_VARIABLE } from '../model/fields/secret.js';
import { isBuiltInVariable, placeholderNames, placeholdersIn } from '../model/names.js';
import { type Finding, type Findings, firstOf, type Problem, rulesOf, unknownFieldsOf } from './problems.js';

/** The field by which editors find the schema of a file. */
const EDITOR_FIELD = '$schema';
const HOST_ADDRESS_NAMES: ReadonlySet<string> = new Set(['NODE_ID', 'NODE_ADDRESS', 'HOST_ADDRESS']);

/** `input` is the object from which the schema made `configuration`. */
export function warningsOf(input: object, configuration: Configuration): Findings {
  return firstOf(oddities(input, configuration));
}

/** The fields that the schema does not know. */
export function unknownFields(input: object, configuration: Configuration): Findings {
  return firstOf(unknownFieldsOf(rulesOf(configurationSchema), input, configuration, EDITOR_FIELD));
}

function* oddities(input: object, configuration: Configuration): Generator<Finding> {
  yield* unknownFieldsOf(rulesOf(configurationSchema), input, configuration, EDITOR_FIELD);
  for (const oddity of withoutEffect(configuration)) yield () => oddity;
}

function* withoutEffect(configuration: Configuration): Generator<Problem> {
  yield* portsWithoutRange(configuration);
  yield* ownNames(configuration);
  yield* hostAddressNames(configuration);
  yield* whereNothingIsReplaced(configuration);
  yield* keysAsText(configuration);
}

function* portsWithoutRange({
  availablePorts,
  command,
  environmentVariables,
  expose,
}: Configuration): Generator<Problem> {
  if (availablePorts !== undefined) return;
  if (expose !== undefined) {
    const unseen = 'no proxy learns of its instances: without availablePorts they have no port';
    yield { path: ['expose'], message: unseen, at: 'key' };
  }
  const message = '%PORT% stays as it is: without availablePorts the instance has no port';
  if (holdsPort(command)) yield { path: ['command'], message, at: 'value' };
  for (const [name, value] of Object.entries(environmentVariables))
    if (holdsPort(value)) yield { path: ['environmentVariables', name], message, at: 'value' };
}

/** The signals that a terminal makes of keys. Two panels write `^C` for a signal. */
const KEYS: ReadonlyMap<string, string> = new Map([
  ['^C', 'SIGINT'],
  ['\x03', 'SIGINT'],
  ['^\\', 'SIGQUIT'],
  ['\x1c', 'SIGQUIT'],
]);

function* keysAsText({ stopCommand = '' }: Configuration): Generator<Problem> {
  const signal = KEYS.get(stopCommand.trim().toUpperCase());
  if (signal === undefined) return;
  const message = `is written to standard input as text, which is no signal: leave it out and write "stopSignal": "${signal}"`;
  yield { path: ['stopCommand'], message, at: 'value' };
}

function holdsPort(text: string): boolean {
  return !placeholdersIn(text, (name) => name === 'PORT').next().done;
}

/** True for the names that Drover gives a value, with those of named ports. */
function isOwnVariable(name: string, { ports = {} }: Configuration): boolean {
  return isBuiltInVariable(name) || Object.keys(ports).some((port) => portVariable(port) === name);
}

function* ownNames(configuration: Configuration): Generator<Problem> {
  const { properties } = configuration;
  for (const name of Object.keys(properties).filter((one) => isOwnVariable(one, configuration))) {
    const message = `has no effect: %${name}% is a variable of Drover's own`;
    yield { path: ['properties', name], message, at: 'key' };
  }
}

function* hostAddressNames({ hostAddress = '', properties }: Configuration): Generator<Problem> {
  for (const name of new Set(placeholderNames(hostAddress))) {
    if (HOST_ADDRESS_NAMES.has(name) || Object.hasOwn(properties, name)) continue;
    const message = `%${name}% stays as it is: only properties, %NODE_ID%, %NODE_ADDRESS% and %HOST_ADDRESS% are replaced here`;
    yield { path: ['hostAddress'], message, at: 'value' };
  }
}

function* whereNothingIsReplaced(configuration: Configuration): Generator<Problem> {
  const { stopCommand = '', readiness, liveness, properties } = configuration;
  const isVariable = (name: string): boolean =>
    isOwnVariable(name, configuration) || Object.hasOwn(properties, name) || name.startsWith(SECRET_VARIABLE);
  const texts: readonly (readonly [path: readonly string[], text: string])[] = [
    [['stopCommand'], stopCommand],
    [['readiness', 'logLine'], readiness?.logLine ?? ''],
    [['readiness', 'httpGet', 'path'], readiness?.httpGet?.path ?? ''],
    [['liveness', 'httpGet', 'path'], liveness?.httpGet?.path ?? ''],
  ];
  for (const [path, text] of texts)
    for (const { name } of placeholdersIn(text, isVariable))
      yield { path, message: `%${name}% stays as it is: variables are not replaced here`, at: 'value' };
}
