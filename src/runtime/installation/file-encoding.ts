/** The text of a file in the encodings that settings files have, and the way back, without a loss. */
import { isUtf8 } from 'node:buffer';

export interface DecodedText {
  /** The text without a byte order mark. */
  readonly text: string;
  /** The bytes of a changed text. Throws when the encoding lacks one of its characters. */
  encode(changed: string): Buffer;
}

/** A placeholder in UTF-16, as programs of Windows write it without a mark at the start. */
const WIDE_PLACEHOLDER = /%\0(?:[A-Za-z0-9_.-]\0)+%\0/;
const MARK = '\uFEFF';

/** Decodes UTF-8, UTF-16, or a file in which each byte is a character. */
export function decode(bytes: Buffer): DecodedText {
  const wide = decodeWide(bytes);
  if (wide !== undefined) return withMark(wide);
  if (isUtf8(bytes)) return withMark({ text: bytes.toString(), encode: (changed) => Buffer.from(changed) });
  return {
    text: bytes.toString('latin1'),
    encode: (changed) => {
      if (/[^\0-\xff]/.test(changed))
        throw new Error('it is not in UTF-8, and its encoding lacks a character of the value');
      return Buffer.from(changed, 'latin1');
    },
  };
}

/** Decodes UTF-16, with its mark; undefined: the file has another encoding. */
export function decodeWide(bytes: Buffer): DecodedText | undefined {
  if (bytes.length % 2 !== 0) return undefined;
  const mark = bytes.length > 1 ? bytes.readUInt16BE(0) : 0;
  const isBigEndian = mark === 0xfeff;
  if (!isBigEndian && mark !== 0xfffe && !WIDE_PLACEHOLDER.test(bytes.toString('latin1'))) return undefined;
  const inOrder = (some: Buffer): Buffer => (isBigEndian ? Buffer.from(some).swap16() : some);
  return {
    text: inOrder(bytes).toString('utf16le'),
    encode: (changed) => inOrder(Buffer.from(changed, 'utf16le')),
  };
}

function withMark({ text, encode }: DecodedText): DecodedText {
  if (!text.startsWith(MARK)) return { text, encode };
  return { text: text.slice(1), encode: (changed) => encode(MARK + changed) };
}
