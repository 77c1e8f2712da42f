/** Sets values in the text of one settings file, by its format. What is not set keeps its bytes. Pure. */
import type { FileEdit } from '../../../model/fields/file-edit.js';
import { decode } from '../file-encoding.js';
import { editIni, editProperties, editText } from './line-edits.js';
import { editToml } from './toml-edits.js';
import { editJson, editYaml } from './value-edits.js';
import { editXml } from './xml-edits.js';

/** A value to set, with its variables replaced. */
export interface ValueEdit {
  /** The key as the configuration writes it. */
  readonly key: string;
  readonly value: string | number | boolean;
  /** True when a variable of the text was replaced: `25565` may then mean the number. */
  readonly isFilled: boolean;
}

export interface EditJob {
  /** The content of the file; null: there is none. */
  readonly content: Uint8Array | null;
  readonly format: FileEdit['format'];
  readonly edits: readonly ValueEdit[];
}

const EDITORS: Readonly<Record<FileEdit['format'], (text: string, edits: readonly ValueEdit[]) => string>> = {
  properties: editProperties,
  yaml: editYaml,
  json: editJson,
  ini: editIni,
  toml: editToml,
  xml: editXml,
  text: editText,
};

/**
 * The content with the values; null: the file has them all. Throws an error in words for the operator, such as for a
 * file that is not of its format.
 */
export function editContent({ content, format, edits }: EditJob): Uint8Array | null {
  const { text, encode } = decode(Buffer.from(content ?? []));
  const half = edits.find(({ value }) => /\p{Surrogate}/u.test(String(value)));
  if (half !== undefined) throw new Error(`${half.key}: the value has half of a character`);
  try {
    const edited = EDITORS[format](text, edits);
    return edited === text && content !== null ? null : encode(edited);
  } catch (error) {
    throw error instanceof RangeError
      ? new Error('it is nested too deeply, or a text in it is too long')
      : error;
  }
}
