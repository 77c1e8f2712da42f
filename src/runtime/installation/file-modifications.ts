/** Replaces the variables in the files that a configuration names, in a tree that nobody else writes yet. */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { whileOpen } from '../../files/while-open.js';
import { missingInFile, missingText } from '../command/missing-variables.js';
import { substitute, substituteBytes, type Variables } from '../command/variables.js';
import { decodeWide } from './file-encoding.js';
import type { WorkspaceItem } from './workspace-layers.js';

const MAX_FILE_BYTES = 16 * 1024 * 1024;
const EDIT = constants.O_RDWR | constants.O_NOFOLLOW;

interface ModificationRequest {
  /** The tree to change. */
  readonly directory: string;
  /** The entries of the tree, by path. */
  readonly items: ReadonlyMap<string, WorkspaceItem>;
  /** The paths as the configuration names them. */
  readonly files: readonly string[];
  readonly variables: Variables;
  readonly signal: AbortSignal;
}

/**
 * Changes the files in place; bytes outside of placeholders stay as they are. Resolves with warnings for the
 * operator.
 */
export async function modifyFiles({
  directory,
  items,
  files,
  variables,
  signal,
}: ModificationRequest): Promise<string[]> {
  const warnings: string[] = [];
  for (const path of new Set(files)) {
    signal.throwIfAborted();
    const item = items.get(path);
    if (item === undefined) warnings.push(`fileModifications: ${path} is in none of the templates`);
    else if (item.kind === 'directory') warnings.push(`fileModifications: ${path} is a directory`);
    else if (item.size > MAX_FILE_BYTES) {
      warnings.push(
        `fileModifications: ${path} is larger than ${MAX_FILE_BYTES / 1024 ** 2} MiB, left unchanged`,
      );
    } else {
      const missing = await modifyFile(join(directory, path), variables);
      for (const name of missing)
        warnings.push(`fileModifications: ${path} asks for ${missingText(name, variables)}`);
    }
  }
  return warnings;
}

/** Resolves with the variables in the file that have no value. */
async function modifyFile(path: string, variables: Variables): Promise<string[]> {
  return await whileOpen(open(path, EDIT), async (file) => {
    const before = await file.readFile();
    const wide = decodeWide(before);
    const after =
      wide === undefined ? substituteBytes(before, variables) : wide.encode(substitute(wide.text, variables));
    if (!after.equals(before)) await replaceContent(file, after);
    return missingInFile(wide === undefined ? before : Buffer.from(wide.text), variables);
  });
}

async function replaceContent(file: FileHandle, content: Buffer): Promise<void> {
  await file.truncate(0);
  let done = 0;
  while (done < content.length)
    done += (await file.write(content, done, content.length - done, done)).bytesWritten;
}
