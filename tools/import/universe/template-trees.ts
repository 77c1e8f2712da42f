/**
 * Finds the templates in a directory `<group>/<name>/`, and the entries in them that no template of Drover can hold.
 */
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { failedError } from '../../../src/command-tree/runs/client-error.js';
import { fileReason } from '../../../src/configuration-files/file-reason.js';
import type { Draft } from '../draft.js';
import { FieldNotes } from '../report.js';
import { toName } from '../values.js';

/** How many entries a refusal names. */
const MOST_NAMED = 5;

/**
 * The templates below `templates`, a directory in `root`, in the order of their names. Throws a ClientError for a
 * directory that cannot be read.
 */
export async function readTemplates(root: string, templates: string): Promise<Draft[]> {
  const drafts: Draft[] = [];
  for (const group of await entriesOf(join(root, templates))) {
    const from = `${templates}/${group.name}`;
    if (!group.isDirectory()) {
      drafts.push(refused(from, '', `a group of templates must be a directory${kindText(group)}`));
      continue;
    }
    for (const entry of await entriesOf(join(root, from)))
      drafts.push(await readTemplate(root, from, group.name, entry));
  }
  return drafts;
}

async function readTemplate(root: string, parent: string, groupName: string, entry: Dirent): Promise<Draft> {
  const from = `${parent}/${entry.name}`;
  const group = toName(groupName);
  const name = toName(entry.name);
  if (group === undefined || name === undefined)
    return refused(from, '', 'nothing of this name can be a name in Drover: rename the directory');
  const to = `templates/${group}/${name}`;
  if (!entry.isDirectory()) return refused(from, to, `a template must be a directory${kindText(entry)}`);
  const directory = join(root, from);
  const foreign = await foreignIn(directory).catch((error: unknown) => fileReason(error));
  if (typeof foreign === 'string') return refused(from, to, `it cannot be read: ${foreign}`);
  if (foreign.length > 0) return refused(from, to, foreignText(foreign));
  const notes = new FieldNotes();
  if (from !== to) notes.changed('name', `it is ${group}/${name}: names have no other characters`);
  return { kind: 'template', from, group, name, directory, fields: notes.reports };
}

/** The paths of entries that are neither files nor directories. Links are not followed. */
async function foreignIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isFile() && !entry.isDirectory())
    .map((entry) => `${relative(directory, join(entry.parentPath, entry.name))}${kindText(entry)}`)
    .toSorted();
}

function foreignText(paths: readonly string[]): string {
  const more = paths.length - MOST_NAMED;
  const named = paths.slice(0, MOST_NAMED).join(', ') + (more > 0 ? `, and ${more} more` : '');
  return `a template holds regular files and directories only: ${named}. Put the files themselves there (cp -L), and import again`;
}

function kindText(entry: Dirent): string {
  if (entry.isSymbolicLink()) return ' (a symbolic link)';
  return entry.isFile() ? ' (a file)' : ' (a device, socket or pipe)';
}

function refused(from: string, to: string, reason: string): Draft {
  return { kind: 'refused', what: 'template', from, to, reason };
}

/** The visible entries of a directory, by name. Hidden entries such as `.git` are neither groups nor templates. */
async function entriesOf(directory: string): Promise<Dirent[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch((error: unknown) => {
    throw failedError(`${directory} cannot be read: ${fileReason(error)}`);
  });
  return entries.filter(({ name }) => !name.startsWith('.')).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
