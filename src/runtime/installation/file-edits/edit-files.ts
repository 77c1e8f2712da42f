/**
 * Sets the values of `fileEdits` in a working directory. The instance counts as an attacker of it: no link is
 * followed, and a file is replaced by a rename in a directory that is held open.
 */
import { constants, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { removeUnfinishedWrites, replaceFile } from '../../../files/replace-file.js';
import { hasFileCode, isMissing } from '../../../files/system-error.js';
import { whileOpen } from '../../../files/while-open.js';
import { DroverError, messageOf } from '../../../model/errors.js';
import type { FileEdit } from '../../../model/fields/file-edit.js';
import { SECRET_VARIABLE, type SecretFile, secretsIn } from '../../../model/fields/secret.js';
import type { UserIds } from '../../../model/names.js';
import { publicMessage } from '../../../model/public-message.js';
import { DirectoryPath } from '../../../templates/tree/directory-path.js';
import type { OpenDirectory } from '../../../templates/tree/open-directory.js';
import { substitute, type Variables } from '../../command/variables.js';
import type { EditThread } from './edit-thread.js';
import type { ValueEdit } from './file-edit.js';

const MOST_BYTES = 1024 * 1024;
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const NEW_FILE_MODE = 0o644;
const MISSING = 'there is no such file, and one in this format is not made: bring it with a template';

interface EditRequest {
  /** The working directory. */
  readonly directory: string;
  readonly edits: readonly (FileEdit | SecretFile)[];
  readonly variables: Variables;
  /** The user who gets new files; absent: Drover's own user. */
  readonly owner?: UserIds | undefined;
  readonly signal: AbortSignal;
}

/**
 * Edits the files; those that have all values are left alone. Throws DRV_FILE_EDIT_FAILED, which names the file; files
 * before it are edited then. Repeatable.
 */
export async function editFiles(thread: Pick<EditThread, 'edit'>, request: EditRequest): Promise<void> {
  for (const edit of request.edits)
    try {
      await editFile(thread, request, edit);
    } catch (cause) {
      request.signal.throwIfAborted();
      const field = 'mode' in edit ? 'secretFiles' : 'fileEdits';
      const text = `${field}: ${edit.path}: ${publicMessage(cause)}`;
      throw new DroverError('DRV_FILE_EDIT_FAILED', text, { cause });
    }
}

async function editFile(
  thread: Pick<EditThread, 'edit'>,
  { directory, variables, owner, signal }: EditRequest,
  edit: FileEdit | SecretFile,
): Promise<void> {
  const isText = 'format' in edit && edit.format === 'text';
  const names = edit.path.split('/');
  const base = names.pop() ?? '';
  // The working directory is the first name, so that it is no link either.
  const opened = await DirectoryPath.open(dirname(directory), [basename(directory), ...names], {
    make: !isText,
  });
  if (opened === 'absent') throw new Error(MISSING);
  if (opened === 'file') throw new Error('a file stands in the place of its directory');
  return await whileOpen(opened, async ({ last }) => {
    if (owner !== undefined) await opened.give(owner);
    const present = await read(last, base);
    if (present === undefined && isText) throw new Error(MISSING);
    const content =
      'secret' in edit
        ? substitute(`%${SECRET_VARIABLE}${edit.secret}%`, variables)
        : await edited(thread, edit, variables, present?.content);
    if (content === null) return;
    signal.throwIfAborted();
    // A daemon that was killed while it wrote left its file.
    await removeUnfinishedWrites(last.entry(''));
    const { uid, gid } = owner ?? (await last.status());
    const mode = hasSecret(edit) ? 0o600 : NEW_FILE_MODE;
    const like = 'mode' in edit ? { uid, gid, mode: Number.parseInt(edit.mode, 8) } : present?.status;
    await replaceFile(last.entry(base), content, { like: like ?? { uid, gid, mode } });
  });
}

function hasSecret(edit: FileEdit | SecretFile): boolean {
  return 'secret' in edit || secretsIn(JSON.stringify(edit.set)).length > 0;
}

async function edited(
  thread: Pick<EditThread, 'edit'>,
  edit: FileEdit,
  variables: Variables,
  content: Buffer | null = null,
): Promise<Uint8Array | null> {
  const { format, set } = edit;
  const edits = Object.entries(set).map(([key, value]): ValueEdit => {
    const text = typeof value === 'string' ? substitute(value, variables) : value;
    // The value of a secret is a text, also one of digits.
    return { key, value: text, isFilled: text !== value && secretsIn(String(value)).length === 0 };
  });
  return thread.edit({ content, format, edits }).catch((error: unknown) => {
    // The words of a parser may quote the file, which may hold a value of now or of before.
    const said = messageOf(error);
    if (!hasSecret(edit) || edits.some(({ key }) => said.startsWith(`${key}: `))) throw error;
    const place = /line \d+, column \d+/.exec(said)?.[0] ?? 'all of it';
    throw new Error(
      `it cannot be set as ${format} (${place}); why is not said, because it may hold a secret`,
    );
  });
}

async function read(
  directory: OpenDirectory,
  name: string,
): Promise<{ readonly content: Buffer; readonly status: Stats } | undefined> {
  try {
    return await whileOpen(open(directory.entry(name), READ), async (file) => {
      const status = await file.stat();
      if (!status.isFile()) throw new Error('it is not a regular file');
      if (status.size > MOST_BYTES) throw new Error('it is larger than 1 MiB');
      const content = Buffer.alloc(status.size);
      const { bytesRead } = await file.read(content, 0, status.size, 0);
      return { content: content.subarray(0, bytesRead), status };
    });
  } catch (error) {
    if (isMissing(error)) return undefined;
    if (hasFileCode(error, 'ELOOP')) throw new Error('it is a symbolic link, and links are not followed');
    throw error;
  }
}
