/**
 * Finds `%NAME%`s that have no value on this node, for warnings: typing errors, and variables that only an extension of
 * another node sets. Texts also hold other words between two `%`, so only names that look like a variable count.
 */
import { nearestName } from '../../configuration-files/nearest-name.js';
import { isBuiltInVariable, placeholderNames } from '../../model/names.js';
import { namesInBytes, type Variables } from './variables.js';

const MOST_NAMES = 5;
/** Shorter names are formats, as in `date +%H%M%S`. */
const SHORTEST_NAME = 3;
/** Names in capitals only: files of programs have placeholders of their own, most of them in small letters. */
const CAPITALS = /^[A-Z][A-Z0-9_]{2,}$/;

/**
 * The unknown names in a command or a value of the environment; five at most. Built-in names are left out: the master
 * warns of them, because it knows whether there is a port.
 */
export function missingInText(text: string, variables: Variables): string[] {
  const isMissing = (name: string): boolean =>
    name.length >= SHORTEST_NAME && !variables.has(name) && !isBuiltInVariable(name);
  return first(placeholderNames(text).filter(isMissing));
}

/** The unknown names in a file in which variables are replaced; five at most. */
export function missingInFile(content: Buffer, variables: Variables): string[] {
  return first(namesInBytes(content, (name) => CAPITALS.test(name) && !variables.has(name)));
}

/** The end of a warning, such as `%GREETNG%, which has no value on this node; did you mean %GREETING%?`. */
export function missingText(name: string, variables: Variables): string {
  if (name === 'PORT') return '%PORT%, which has no value: the configuration has no availablePorts';
  const nearest = nearestName(name, [...variables.keys()]);
  const hint = nearest === undefined ? '' : `; did you mean %${nearest}%?`;
  return `%${name}%, which has no value on this node${hint}`;
}

function first(names: Iterable<string>): string[] {
  const found = new Set<string>();
  for (const name of names) if (found.add(name).size === MOST_NAMES) break;
  return [...found];
}
