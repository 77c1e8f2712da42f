/**
 * The rules for the path of a file in a template, the same for API clients and entries of a zip. Pure: links and other
 * facts of the disk are checked when the path is opened.
 */
import { MAX_TREE_DEPTH } from './tree.js';

const MAX_PATH_BYTES = 2048;
/** The longest file name that common file systems allow. */
const MAX_SEGMENT_BYTES = 255;
const ESCAPE = /%(?:25|2e|2f|5c|00)/gi;

/** Says why `path` cannot be the path of a file in a template, as the end of a sentence; undefined when it can. */
export function objectionTo(path: string): string | undefined {
  if (path === '') return 'is empty';
  if (path.includes('\0')) return 'holds a NUL';
  if (path.includes('\\')) return 'holds a backslash';
  if (path.startsWith('/')) return 'is absolute';
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return `is longer than ${MAX_PATH_BYTES} bytes`;
  const segments = path.split('/');
  if (segments.length > MAX_TREE_DEPTH) return `lies deeper than ${MAX_TREE_DEPTH} levels`;
  if (segments.includes('')) return 'has an empty segment';
  if (segments.some((segment) => segment === '.' || segment === '..')) return 'holds a segment "." or ".."';
  if (segments.some((segment) => Buffer.byteLength(segment) > MAX_SEGMENT_BYTES))
    return `has a segment longer than ${MAX_SEGMENT_BYTES} bytes`;
  return isDisguised(path) ? 'holds an encoded "..", slash at the start, backslash or NUL' : undefined;
}

/**
 * True when a proxy or tool in front of Drover could decode the path into another one. Drover itself decodes a path
 * only once.
 */
function isDisguised(path: string): boolean {
  for (let text = path; ; ) {
    const decoded = text.replace(ESCAPE, (encoded) =>
      String.fromCharCode(Number.parseInt(encoded.slice(1), 16)),
    );
    if (decoded === text) return false;
    if (/[\0\\]|^\/|(?:^|\/)\.\.(?:\/|$)/.test(decoded)) return true;
    text = decoded;
  }
}
