/** The text of a configuration file that gets a new content: an edit of the text that it has. Pure. */
import type { Configuration } from '../model/configuration.js';
import { DroverError } from '../model/errors.js';
import { type Bases, NO_BASES, takenOver } from './extends.js';
import { withoutMark } from './json-position.js';
import { nextContent } from './next-content.js';
import { MAX_FILE_BYTES, type ParsedConfiguration, parseConfigurationFile } from './parse.js';
import { editJsonText } from './text-edit.js';

/** A content as its author wrote it, and what it means. */
export type NewContent = Pick<ParsedConfiguration, 'configuration' | 'content' | 'hash'>;

/** The text that a file has, what it extends, and what it means. */
export interface PresentText {
  readonly text: string;
  readonly bases: Bases;
  /** Undefined: it is not valid. */
  readonly parsed: ParsedConfiguration | undefined;
}

/** A text to write; `parsed`: what it means, where that is known. */
type NewText = Pick<PresentText, 'text'> & Partial<Pick<PresentText, 'parsed'>>;

/**
 * The text of the file `file` for a content. A text that is not valid, and a new file, are printed anew. A file that
 * extends another gets the difference only. Throws DRV_CONFIGURATION_INVALID when the content is too large for a file.
 */
export function fileTextFor(file: string, content: NewContent, present: PresentText | undefined): NewText {
  const text = present?.parsed && edited(file, content, present, present.parsed.configuration);
  return text ?? { text: configurationFileText(content.configuration.name, content.content) };
}

function edited(
  file: string,
  wanted: NewContent,
  { text: present, bases }: PresentText,
  meant: Configuration,
): NewText | undefined {
  const own: unknown = JSON.parse(withoutMark(present));
  const next = nextContent(
    { raw: own, meant },
    { raw: wanted.content, meant: wanted.configuration },
    bases.found.length === 0 ? undefined : takenOver(bases.found),
  );
  const text = editJsonText(present, own, next);
  const after = parseConfigurationFile(file, text, { bases });
  if (!('parsed' in after) || after.parsed.hash !== wanted.hash || Buffer.byteLength(text) > MAX_FILE_BYTES)
    return undefined;
  return bases === NO_BASES ? { text, parsed: after.parsed } : { text };
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
