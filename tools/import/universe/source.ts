/** Reads a directory of the Universe reference and maps its contents. Changes nothing there. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { failedError, notFoundError } from '../../../src/command-tree/runs/client-error.js';
import { fileReason } from '../../../src/configuration-files/file-reason.js';
import { JsonTextError, readJsonText } from '../../../src/configuration-files/json-position.js';
import { MAX_FILE_BYTES } from '../../../src/configuration-files/parse.js';
import { hasFileCode } from '../../../src/files/system-error.js';
import type { Content, Draft, Drafts } from '../draft.js';
import { membersOf } from '../values.js';
import { mapConfiguration, type UniverseFacts } from './configuration.js';
import { mapNode } from './node.js';
import { readTemplates } from './template-trees.js';

const CONFIG = 'config.json';
const CONFIGURATIONS = 'configuration';
const TEMPLATES = 'templates';
const STATIC = 'static';

/** The other files of Universe, and where their counterparts are in Drover. */
const BESIDE: Readonly<Record<string, string>> = {
  'database.json':
    'Drover keeps its state in data/ and needs no database; make API keys anew: drover key create',
  extensions:
    'extensions of Universe do not run in Drover; s3 and docker are built in, set them up by hand (docs/templates.md, docs/runtimes.md)',
  running: 'instances that run are not taken over: stop them in Universe before Drover starts',
  static: 'directories of static instances are not taken along: see the configurations that are static',
};

/**
 * Reads the directory and returns the drafts. Throws a ClientError when `directory` is not a directory of Universe,
 * or cannot be read.
 */
export async function readUniverse(directory: string): Promise<Drafts> {
  const names = await namesIn(directory);
  if (![CONFIG, CONFIGURATIONS, TEMPLATES].some((name) => names.has(name)))
    throw failedError(
      `${directory} is no directory of Universe: it has no ${CONFIG}, no ${CONFIGURATIONS}/ and no ${TEMPLATES}/`,
    );
  const trees = names.has(TEMPLATES) ? await readTemplates(directory, TEMPLATES) : [];
  const main = names.has(CONFIG) ? await readMembers(directory, CONFIG) : {};
  const node = mapNode(typeof main === 'string' ? {} : main);
  const facts: UniverseFacts = {
    node: node.facts,
    templates: new Set(
      trees.flatMap((tree) => (tree.kind === 'template' ? [`${tree.group}/${tree.name}`] : [])),
    ),
    staticDirectories: names.has(STATIC) ? await namesIn(join(directory, STATIC)) : new Set(),
  };
  const nodeDraft: Draft =
    typeof main === 'string'
      ? { kind: 'refused', what: 'node', from: CONFIG, to: CONFIG, reason: main }
      : { kind: 'node', from: CONFIG, content: node.content, fields: node.fields };
  const configurations = names.has(CONFIGURATIONS) ? await readConfigurations(directory, facts) : [];
  const beside = Object.keys(BESIDE).filter((name) => names.has(name));
  return {
    drafts: [nodeDraft, ...trees, ...configurations],
    notes: beside.map((name) => `${name}: ${BESIDE[name]}`),
  };
}

async function readConfigurations(directory: string, facts: UniverseFacts): Promise<Draft[]> {
  const files = [...(await namesIn(join(directory, CONFIGURATIONS)))].filter((name) => /\.json$/i.test(name));
  const drafts: Draft[] = [];
  for (const file of files.toSorted()) {
    const from = `${CONFIGURATIONS}/${file}`;
    const members = await readMembers(directory, from);
    drafts.push(
      typeof members === 'string'
        ? { kind: 'refused', what: 'configuration', from, to: '', reason: members }
        : { kind: 'configuration', from, ...mapConfiguration(members, facts) },
    );
  }
  return drafts;
}

/** Reads the members of the object in a JSON file. A text as the result is the reason why the file cannot be used. */
async function readMembers(directory: string, name: string): Promise<Content | string> {
  const file = join(directory, name);
  try {
    const status = await stat(file);
    if (!status.isFile()) return 'it is not a regular file';
    if (status.size > MAX_FILE_BYTES) return `it is larger than ${MAX_FILE_BYTES / 1024} KiB`;
    return membersOf(readJsonText(await readFile(file, 'utf8')).value) ?? 'it must be an object in { }';
  } catch (error) {
    if (error instanceof JsonTextError)
      return `${error.line}:${error.column}: not valid JSON: ${error.message} (Universe reads files more loosely)`;
    return `it cannot be read: ${fileReason(error)}`;
  }
}

async function namesIn(directory: string): Promise<ReadonlySet<string>> {
  try {
    return new Set(await readdir(directory));
  } catch (error) {
    if (hasFileCode(error, 'ENOENT', 'ENOTDIR')) throw notFoundError(`there is no directory ${directory}`);
    throw failedError(`${directory} cannot be read: ${fileReason(error)}`);
  }
}
