/** Reads the names of groups and templates under `templates/`. Never reads into a template. */
import { readdir } from 'node:fs/promises';
import { systemCodeOf } from '../../files/system-error.js';
import { nameSchema } from '../../model/names.js';
import { kindOf } from '../tree/open-directory.js';

interface GroupScan {
  /** The templates of each group, both in order. A group without templates is listed too. */
  readonly groups: ReadonlyMap<string, readonly string[]>;
  /** Entries that look like a group or template but cannot be used, each with the reason. */
  readonly ignored: readonly string[];
}

/** Reads the names. A missing directory has no groups. Throws the system's error when the directory cannot be read. */
export async function scanGroups(directory: string): Promise<GroupScan> {
  const ignored: string[] = [];
  const groups = new Map<string, readonly string[]>();
  for (const group of await namesIn(directory, '', ignored)) {
    groups.set(group, await namesIn(`${directory}/${group}`, `${group}/`, ignored));
  }
  return { groups, ignored };
}

async function namesIn(directory: string, prefix: string, ignored: string[]): Promise<string[]> {
  const names: string[] = [];
  for (const entry of await entriesOf(directory)) {
    const kind = kindOf(entry);
    // Files beside the templates (a README) and hidden directories of tools (.git) are no mistake.
    if (kind === 'file' || kind === 'other' || entry.name.startsWith('.')) continue;
    const path = prefix + entry.name;
    if (kind === 'link') ignored.push(`${path} is a symbolic link`);
    else if (nameSchema.safeParse(entry.name).success) names.push(entry.name);
    else ignored.push(`${path} has a name that a template or group cannot have`);
  }
  return names.sort();
}

async function entriesOf(directory: string) {
  try {
    return await readdir(directory, { withFileTypes: true });
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
}
