/**
 * Changes a configuration in an editor.
 * Typed text is never lost: it stays in a file until the master has it, and every refusal names that file. An invalid
 * text is opened again with the reason above it.
 */
import { mkdtemp, readdir, readFile, rmdir, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describeFileError } from '../../command-tree/file-errors.js';
import { ifMatch, pathPart, readContent } from '../../command-tree/runs/api-calls.js';
import { ClientError, EXIT, failedError, notFoundError } from '../../command-tree/runs/client-error.js';
import { NAME } from '../../model/plain/name.js';
import { quoteText } from '../../model/words.js';
import type { ConfigurationContent } from '../../operations/configuration-content.js';
import { toPlainText } from '../../telemetry/plain-text.js';
import type { ApiClient } from '../api-client.js';
import { type Document, judgeText, warningText } from './documents.js';
import type { OpenEditor } from './editor.js';

export interface EditOptions {
  readonly api: ApiClient;
  readonly name: string;
  readonly openEditor: OpenEditor;
  /** The directory of the edited file. */
  readonly directory: string;
  /** Prints a line for the person. */
  readonly say: (line: string) => void;
}

export interface Edited {
  readonly name: string;
  readonly result: 'changed' | 'unchanged';
}

/** A fault in the text that the person can correct. `line`: its line, from 1; null: unknown. */
interface Complaint {
  readonly message: string;
  readonly line: number | null;
  readonly column: number | null;
  readonly field: string | null;
}

const COMMENT = '// ';

/** Throws a ClientError, with exit code 5 when somebody else changed the configuration meanwhile. */
export async function editConfiguration(options: EditOptions): Promise<Edited> {
  const { api, name, say } = options;
  if (!NAME.test(name)) throw notFoundError(`there is no configuration ${quoteText(name)}`);
  const start = await readContent(api, name);
  if (start.fileState !== 'same')
    say(`${start.file} of the master is ${start.fileState}: what is in force is shown, and takes its place`);
  const path = join(await mkdtemp(join(options.directory, 'drover-edit-')), `${name}.json`);
  const original = `${JSON.stringify(start.content, null, 2)}\n`;
  try {
    const result = await editUntilDone(options, start, { path, original });
    await removeFile(path);
    return { name, result };
  } catch (error) {
    throw await keepText(error, { path, original });
  }
}

/** The file being edited, and its original text. */
interface Work {
  readonly path: string;
  readonly original: string;
}

async function editUntilDone(
  { api, name, openEditor, say }: EditOptions,
  { content, revision }: ConfigurationContent,
  { path, original }: Work,
): Promise<Edited['result']> {
  let text = original;
  let complaint: Complaint | undefined;
  for (;;) {
    const before = text;
    await writeFile(path, `${commentOf(name, complaint)}${text}`, { mode: 0o600 });
    await openEditor(path);
    text = withoutComment(await readFile(path, 'utf8'));
    if (text.trim() === '') return 'unchanged';
    if (complaint !== undefined && text === before) {
      const why = toPlainText(describeFileError({ ...complaint, file: `${name}.json` }));
      throw failedError(`not saved: ${why}`);
    }
    const judged = judge(name, text);
    if ('message' in judged) {
      complaint = judged;
      continue;
    }
    if (JSON.stringify(judged.content) === JSON.stringify(content)) return 'unchanged';
    try {
      await api.send('PUT', `/configurations/${pathPart(name)}`, judged.content, ifMatch(revision));
      for (const warning of judged.warnings) say(`warning: ${warningText(judged, warning)}`);
      return 'changed';
    } catch (error) {
      // Only an invalid text can be corrected in the editor; a conflict or a denied key cannot.
      if (!(error instanceof ClientError) || error.exitCode !== EXIT.failed) throw error;
      complaint = { message: error.message, line: null, column: null, field: null };
    }
  }
}

function judge(name: string, text: string): Document | Complaint {
  const { valid, faults } = judgeText(`${name}.json`, text, name);
  const [document] = valid;
  if (document === undefined) return faults[0] ?? fault('holds no configuration');
  if (document.name === name) return document;
  return fault(`must stay "${name}": "drover apply -f" makes one of another name`, 'name');
}

function fault(message: string, field: string | null = null): Complaint {
  return { message, line: null, column: null, field };
}

/**
 * Returns the comment lines that explain why the text is opened again. The line number in the complaint includes these
 * lines.
 */
function commentOf(name: string, complaint: Complaint | undefined): string {
  if (complaint === undefined) return '';
  const lines = 2;
  const line = complaint.line === null ? null : complaint.line + lines;
  const why = toPlainText(describeFileError({ ...complaint, line, file: `${name}.json` }));
  return [`not saved: ${why}`, 'mend it and save; or close it as it is, to give up']
    .map((one) => `${COMMENT}${one.replaceAll('\n', ' ')}\n`)
    .join('');
}

function withoutComment(text: string): string {
  return text.replace(/^(?:\/\/.*(?:\n|$))+/, '');
}

/**
 * Keeps the person's text in a file, if it was changed. Returns the error to throw; a ClientError then names the file.
 */
async function keepText(error: unknown, { path, original }: Work): Promise<unknown> {
  const text = withoutComment(await readFile(path, 'utf8').catch(() => ''));
  if (text.trim() === '' || text === original) {
    await removeFile(path);
    return error;
  }
  await writeFile(path, text);
  if (!(error instanceof ClientError)) return error;
  const next = error.exitCode === EXIT.conflict ? `; compare it with "drover diff -f ${path}"` : '';
  return new ClientError(error.exitCode, `${error.message}; your text is in ${path}${next}`, {
    cause: error,
  });
}

/** Removes the file and its directory. A leftover harms nobody, so a failure is ignored. */
async function removeFile(path: string): Promise<void> {
  const directory = dirname(path);
  try {
    // Remove the whole directory: editors leave backup copies beside the file.
    for (const name of await readdir(directory)) await unlink(join(directory, name));
    await rmdir(directory);
  } catch {
    return;
  }
}
