/** Loads the node's `config.json`. When the file does not exist, writes it with every default. */
import { readFile, stat } from 'node:fs/promises';
import { z } from 'zod';
import { fileReason } from '../configuration-files/file-reason.js';
import { JsonTextError, readJsonText } from '../configuration-files/json-position.js';
import { fieldName, moreText, type Problem, readerOf } from '../configuration-files/problems.js';
import { replaceFile } from '../files/replace-file.js';
import { isMissing } from '../files/system-error.js';
import { DroverError, invalidNodeConfiguration, unusableRoot } from '../model/errors.js';
import { type NodeConfiguration, nodeConfigurationSchema } from '../model/node.js';

const MAX_BYTES = 1024 * 1024;
const readFields = readerOf(nodeConfigurationSchema);

/**
 * Loads the file. Called once at start, before the root's lock is taken. Never changes a file that exists. Throws
 * DRV_NODE_CONFIG_INVALID with one line per fault: file, place, field, what is wrong, what is accepted.
 */
export async function loadMainConfiguration(file: string): Promise<NodeConfiguration> {
  const text = await readText(file);
  const configuration = text === undefined ? await writeDefaults(file) : parseMainConfiguration(file, text);
  if (configuration.joinToken !== undefined) await refuseReadable(file);
  return configuration;
}

/** The present content of the file; undefined when the file does not exist. Throws like `loadMainConfiguration`. */
export async function readMainConfiguration(file: string): Promise<NodeConfiguration | undefined> {
  const text = await readText(file);
  return text === undefined ? undefined : parseMainConfiguration(file, text);
}

/** Parses `text` and fills in the defaults. Throws like `loadMainConfiguration`. */
export function parseMainConfiguration(file: string, text: string): NodeConfiguration {
  try {
    const { value, positionsOf } = readJsonText(text);
    const read = readFields(value);
    if ('data' in read) return read.data;
    const { first, more } = read.problems;
    const positions = positionsOf(first);
    const lines = first.map((problem, index) => {
      const { line, column } = positions[index] ?? { line: 1, column: 1 };
      return `${file}:${line}:${column}: ${sentence(problem)}`;
    });
    throw invalidNodeConfiguration(`${lines.join('\n')}${moreText(more)}`);
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    throw invalidNodeConfiguration(`${file}:${error.line}:${error.column}: not valid JSON: ${error.message}`);
  }
}

/**
 * Writes `fields` over the file's content, or into a new file, with every default. The node reads the file once, at its
 * start, so do not call this while the node runs. Throws like `loadMainConfiguration`.
 */
export async function changeMainConfiguration(
  file: string,
  fields: Readonly<Record<string, unknown>>,
): Promise<NodeConfiguration> {
  const text = await readText(file);
  const present = text === undefined ? {} : parseMainConfiguration(file, text);
  const changed = parseMainConfiguration(file, JSON.stringify({ ...present, ...fields }));
  await writeConfiguration(file, changed);
  return changed;
}

/** Removes a used join token from the file and keeps the other fields. Throws like `loadMainConfiguration`. */
export async function dropJoinToken(file: string): Promise<void> {
  const text = await readText(file);
  if (text === undefined) return;
  const { joinToken, ...rest } = z
    .looseObject({ joinToken: z.unknown().optional() })
    .parse(readJsonText(text).value);
  if (joinToken !== undefined) await writeConfiguration(file, rest);
}

function sentence({ path, message }: Problem): string {
  return path.length === 0 ? `the configuration ${message}` : `${fieldName(path)}: ${message}`;
}

async function readText(file: string): Promise<string | undefined> {
  try {
    const status = await stat(file);
    if (!status.isFile()) throw invalidNodeConfiguration(`${file} is not a regular file`);
    if (status.size > MAX_BYTES)
      throw invalidNodeConfiguration(`${file} is larger than ${MAX_BYTES / 1024} KiB`);
    return await readFile(file, 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error instanceof DroverError
      ? error
      : invalidNodeConfiguration(`${file} cannot be read: ${fileReason(error)}`);
  }
}

async function writeDefaults(file: string): Promise<NodeConfiguration> {
  const configuration = nodeConfigurationSchema.parse({});
  await writeConfiguration(file, configuration);
  return configuration;
}

/** The next content may hold a secret, so other users lose their rights. */
const NOT_OTHERS = 0o770;

async function writeConfiguration(file: string, fields: object): Promise<void> {
  const text = `${JSON.stringify(fields, null, 2)}\n`;
  try {
    // Make a file with a join token private: the next start refuses a token that other users can read.
    await replaceFile(file, text, { keep: !('joinToken' in fields), mask: NOT_OTHERS });
  } catch (error) {
    throw unusableRoot(`${file} cannot be written: ${fileReason(error)}`);
  }
}

async function refuseReadable(file: string): Promise<void> {
  const { mode } = await stat(file);
  if ((mode & 0o077) === 0) return;
  throw invalidNodeConfiguration(
    `${file} holds a joinToken and has mode ${(mode & 0o777).toString(8)}: other users can read it; run: chmod 600 '${file}'`,
  );
}
