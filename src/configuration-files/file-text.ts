/** The text of a configuration file that gets a new content: an edit of the text that it has. Pure. */
import { DroverError } from '../model/errors.js';
import { type Bases, takenOver } from './extends.js';
import { withoutMark } from './json-position.js';
import { nextContent } from './next-content.js';
import { MAX_FILE_BYTES, type ParsedConfiguration, parseConfigurationFile } from './parse.js';
import { editJsonText } from './text-edit.js';

/** A content as its author wrote it, and what it means. */
export type NewContent = Pick<ParsedConfiguration, 'configuration' | 'content' | 'hash'>;

/** The text that a file has, and what it extends. */
interface PresentText {
  readonly text: string;
  readonly bases: Bases;
}

/**
 * The text of the file `file` for a content. A text that is not valid, and a new file, are printed anew. A file that
 * extends another gets the difference only. Throws DRV_CONFIGURATION_INVALID when the content is too large for a file.
 */
export function fileTextFor(file: string, content: NewContent, present: PresentText | undefined): string {
  const text = present === undefined ? undefined : edited(file, content, present);
  return text ?? configurationFileText(content.configuration.name, content.content);
}

function edited(file: string, wanted: NewContent, { text: present, bases }: PresentText): string | undefined {
  const before = parseConfigurationFile(file, present, { bases });
  if (!('parsed' in before)) return undefined;
  const own: unknown = JSON.parse(withoutMark(present));
  const next = nextContent(
    { raw: own, meant: before.parsed.configuration },
    { raw: wanted.content, meant: wanted.configuration },
    bases.found.length === 0 ? undefined : takenOver(bases.found),
  );
  const text = editJsonText(present, own, next);
  const after = parseConfigurationFile(file, text, { bases });
  const isIt = 'parsed' in after && after.parsed.hash === wanted.hash;
  return isIt && Buffer.byteLength(text) <= MAX_FILE_BYTES ? text : undefined;
}

/** The text of a new file for a body: the path's name first, then the body's other fields unchanged. */
export function configurationFileText(name: string, input: unknown): string {
  const fields = typeof input === 'object' ? input : {};
  const content = { name, ...fields };
  content.name = name;
  const text = `${JSON.stringify(content, null, 2)}\n`;
  if (Buffer.byteLength(text) <= MAX_FILE_BYTES) return text;
  const limit = `a configuration must fit into a file of ${MAX_FILE_BYTES / 1024} KiB`;
  throw new DroverError('DRV_CONFIGURATION_INVALID', limit);
}
