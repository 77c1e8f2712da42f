/**
 * Reads the configurations that `-f` names: files, directories and standard input. A file is read and validated as the
 * daemon does it. Standard input or a pipe may hold several documents, in sequence or as a list.
 */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describeFileError } from '../../command-tree/file-errors.js';
import { type ClientError, failedError } from '../../command-tree/runs/client-error.js';
import { DirectoryReader, DirectoryUnusable, type Reading } from '../../configuration-files/directory.js';
import { EXTENDS } from '../../configuration-files/extends.js';
import { isPart } from '../../configuration-files/file-names.js';
import { splitJsonTexts } from '../../configuration-files/json-position.js';
import {
  type ParsedConfiguration,
  parseConfigurationFile,
  textFault,
} from '../../configuration-files/parse.js';
import { fieldName } from '../../configuration-files/problems.js';
import { unknownFields } from '../../configuration-files/warnings.js';
import type { ConfigurationFileError, ConfigurationWarning } from '../../model/configuration.js';
import { countText, listText, systemReason } from '../../model/words.js';

const STDIN = '-';
const STDIN_LABEL = 'stdin';
const MOST_NAMED = 5;
/** How many faulty texts of one input are told. */
const MOST_FAULTS = 100;

export interface Document extends ParsedConfiguration {
  /** The source of the document for a person, such as `configurations/lobby.json`, or `stdin`. */
  readonly file: string;
  readonly name: string;
}

/** The result of reading files. The `file` of a fault names the source, as the `file` of a document does. */
export interface Documents {
  readonly valid: readonly Document[];
  readonly faults: readonly ConfigurationFileError[];
  /** Files that look like configurations but are not read from a directory. The master skips them, too. */
  readonly passedOver: readonly string[];
}

type Judged = ReturnType<typeof parseConfigurationFile>;
/** A place, and the document or fault that was read from it. */
type Source = readonly [file: string, judged: Judged];

/**
 * Reads and validates all that `given` names, in order. `readInput`: reads standard input, for `-`. Throws a
 * ClientError for a place that is unreadable or holds no configuration. `isStrict`: unknown fields are faults.
 */
export async function readDocuments(
  given: readonly string[],
  readInput: () => Promise<string>,
  isStrict = false,
): Promise<Documents> {
  const sources: Source[] = [];
  const passedOver: string[] = [];
  for (const path of new Set(given)) {
    const others: string[] = [];
    const found = path === STDIN ? split(STDIN_LABEL, await readInput()) : await readPath(path, others);
    if (found.length === 0 && !isPart(path)) {
      const label = path === STDIN ? STDIN_LABEL : path;
      const more = [`${label} holds no configuration`, passedOverText({ passedOver: others })];
      throw failedError(more.filter((part) => part !== undefined).join('; '));
    }
    sources.push(...found);
    passedOver.push(...others);
  }
  return { ...apart(isStrict ? sources.map(strictly) : sources), passedOver };
}

/** Returns a sentence about `passedOver` for a person, or undefined when no file was passed over. */
export function passedOverText({ passedOver }: Pick<Documents, 'passedOver'>): string | undefined {
  if (passedOver.length === 0) return undefined;
  return `passed over, because only *.json is read of a directory: ${listText(passedOver, MOST_NAMED)}`;
}

/** Validates a text. The configuration's name comes from the text, or else from `defaultName`. */
export function judgeText(
  file: string,
  text: string,
  defaultName: string | null,
): Omit<Documents, 'passedOver'> {
  return apart([[file, parseConfigurationFile(file, text, { defaultName })]]);
}

/** `others` gets what is passed over. */
async function readPath(path: string, others: string[]): Promise<Source[]> {
  const status = await stat(path).catch((error: unknown) => {
    throw unreadable(path, error);
  });
  if (status.isDirectory()) return readDirectory(path, others);
  // A path that is not a regular file, such as a shell's `<(jq ...)`, has no meaningful name.
  if (!status.isFile()) {
    const texts = await text(createReadStream(path)).catch((error: unknown) => {
      throw unreadable(path, error);
    });
    return split(path, texts);
  }
  const reading = await readerOf('').readFile(path);
  if (reading === undefined) return [];
  const judged = withOwnName(path, judgedOf(reading));
  // Files that only others extend need not be whole: only their text is judged.
  const isFine = isPart(path) && !('error' in judged && [null, EXTENDS].includes(judged.error.field));
  return isFine ? [] : [[path, judged]];
}

async function readDirectory(path: string, others: string[]): Promise<Source[]> {
  try {
    const { files, unread } = await readerOf(path).read();
    others.push(...[...unread.keys()].map((name) => join(path, name)).sort());
    return [...files].map(([file, reading]) => [join(path, file), judgedOf(reading)]);
  } catch (error) {
    if (error instanceof DirectoryUnusable) throw unreadable(path, error.cause);
    throw error;
  }
}

function readerOf(directory: string): DirectoryReader {
  return new DirectoryReader(directory, { now: () => Date.now() });
}

function judgedOf(reading: Reading): Judged {
  return reading.kind === 'valid' ? { parsed: reading.parsed } : { error: reading.error };
}

/**
 * Requires a name in a file that is not `NAME.json`. The daemon derives a missing name from the file name, which would
 * be odd for other files.
 */
function withOwnName(path: string, judged: Judged): Judged {
  if (path.endsWith('.json') || !('parsed' in judged) || 'name' in judged.parsed.content) return judged;
  const message = 'is missing: only that of NAME.json can be left out';
  return { error: { file: path, line: 1, column: 1, field: 'name', message } };
}

/** Judges each of several texts. After 100 faulty ones it judges no more, because nothing is written anyway. */
function split(file: string, texts: string): Source[] {
  try {
    const sources: Source[] = [];
    let faults = 0;
    const parts = splitJsonTexts(texts);
    for (const [index, part] of parts.entries()) {
      const judged = parseConfigurationFile(file, part, { defaultName: null });
      sources.push([file, judged]);
      if (!('error' in judged) || ++faults < MOST_FAULTS || index + 1 === parts.length) continue;
      const rest = countText(parts.length - index - 1, 'text');
      const message = `too many faults: ${rest} after line ${part.at.line} were not looked at`;
      sources.push([file, { error: { file, line: null, column: null, field: null, message } }]);
      break;
    }
    return sources;
  } catch (error) {
    return [[file, { error: textFault(file, error) }]];
  }
}

/** Turns a document with unknown fields into a fault, which names them all. */
function strictly([file, judged]: Source): Source {
  if (!('parsed' in judged)) return [file, judged];
  const { content, configuration, warnings } = judged.parsed;
  const unknown = unknownFields(content, configuration).first.map(({ path, message }) => ({
    ...{ line: null, column: null, field: fieldName(path), message },
    ...warnings.find(({ field }) => field === fieldName(path)),
  }));
  const [first, ...others] = unknown;
  if (first === undefined) return [file, judged];
  const message = [first.message, ...others.map((one) => `${one.field}: ${one.message}`)].join('; ');
  return [file, { error: { ...first, file, name: configuration.name, message } }];
}

/** Turns a second document with the same name into a fault. */
function apart(sources: readonly Source[]): Omit<Documents, 'passedOver'> {
  const valid = new Map<string, Document>();
  const faults: ConfigurationFileError[] = [];
  for (const [file, judged] of sources) {
    if ('error' in judged) {
      faults.push({ ...judged.error, file });
      continue;
    }
    const { name } = judged.parsed.configuration;
    const first = valid.get(name);
    if (first === undefined) valid.set(name, { ...judged.parsed, file, name });
    else {
      const message = `"${name}" is the name of another one in ${first.file}`;
      faults.push({ file, name, line: null, column: null, field: 'name', message });
    }
  }
  return { valid: [...valid.values()], faults };
}

function unreadable(path: string, cause: unknown): ClientError {
  const reason = systemReason(cause) ?? 'it is no directory of configurations';
  return failedError(`${path} cannot be read: ${reason}`, { cause });
}

/**
 * Returns the documents when all are valid. Prints each fault with `say`, then throws a ClientError. `undone` ends its
 * message, such as `nothing was written`.
 */
export function requireValid(
  { valid, faults }: Pick<Documents, 'valid' | 'faults'>,
  undone: string,
  say: (line: string) => void,
): readonly Document[] {
  if (faults.length === 0) return valid;
  for (const fault of faults) say(describeFileError(fault));
  const total = countText(valid.length + faults.length, 'configuration');
  throw failedError(
    `${undone}: ${faults.length} of ${total} ${faults.length === 1 ? 'is' : 'are'} not valid`,
  );
}

/** Finds the line of the warning in the document: the master got the content without line numbers. */
export function warningText(document: Document, { field, message }: ConfigurationWarning): string {
  const placed = document.warnings.find((warning) => warning.field === field);
  return describeFileError({ line: null, column: null, ...placed, field, message, file: document.file });
}
