/**
 * The list of a tree's items with the hashes of their contents: a few percent of the tree's size. The digest of the
 * tree is computed from this list alone. So a manifest with the right digest is true, whoever sent it.
 */
import { z } from 'zod';
import { Pace } from '../../loop/pace.js';
import { attempt } from '../../model/plain/attempt.js';
import { quoteText } from '../../model/words.js';
import { digestOf, type HashedItem } from '../tree/digest.js';
import { TREE_LIMITS, type TreeItem } from '../tree/tree.js';
import { corrupt, safePath } from './bundle.js';

const PIECE_CHARS = 64 * 1024;
const MAX_BYTES = 128 * 1024 * 1024;
/** More than the longest path takes, with all its characters escaped. */
const MAX_LINE_CHARS = 128 * 1024;
const NEWLINE = 10;

const lineSchema = z.union([
  z.tuple([z.literal('directory'), z.string()]),
  z.tuple([z.literal('file'), z.string(), z.boolean(), z.int().min(0), z.string().regex(/^[0-9a-f]{64}$/)]),
]);

/** The manifest as text: one line of JSON for each item, in the order of the walk, in pieces of about 64 KiB. */
export function* encodeManifest(items: readonly HashedItem[]): Generator<Buffer> {
  let text = '';
  for (const { path, kind, executable, size, hash } of items) {
    const line =
      kind === 'directory' ? [kind, path] : [kind, path, executable, size, hash?.toString('hex') ?? ''];
    text += `${JSON.stringify(line)}\n`;
    if (text.length < PIECE_CHARS) continue;
    yield Buffer.from(text);
    text = '';
  }
  if (text !== '') yield Buffer.from(text);
}

/**
 * Reads the manifest of the tree with this digest. Throws DRV_TEMPLATE_CORRUPT for any other content; the source's own
 * errors pass.
 */
export async function decodeManifest(
  source: AsyncIterable<Buffer> | Iterable<Buffer>,
  digest: string,
): Promise<HashedItem[]> {
  const items: HashedItem[] = [];
  const pace = new Pace();
  for await (const line of linesOf(source)) {
    if (pace.isOver) await pace.rest();
    if (items.length >= TREE_LIMITS.maxEntries) throw corrupt('its list holds too many entries');
    items.push(decodeLine(line));
  }
  if ((await digestOf(items)) !== digest) throw corrupt('its list is not that of this tree');
  checkStructure(items);
  return items;
}

/** Checks that each path comes once, after the directory that holds it. Throws DRV_TEMPLATE_CORRUPT. */
export function checkStructure(items: readonly TreeItem[]): void {
  const kinds = new Map<string, TreeItem['kind']>();
  for (const { path, kind } of items) {
    const slash = path.lastIndexOf('/');
    const isIn = slash < 0 || kinds.get(path.slice(0, slash)) === 'directory';
    if (!isIn || kinds.has(path)) throw corrupt(`entry ${quoteText(path)} does not fit the others`);
    kinds.set(path, kind);
  }
}

function decodeLine(line: string): HashedItem {
  if (line.length > MAX_LINE_CHARS) throw corrupt('its list holds an entry that is too long');
  const parsed = attempt(() => lineSchema.parse(JSON.parse(line)));
  if (parsed === undefined) throw corrupt('its list cannot be read');
  const path = safePath(parsed[1]);
  if (parsed[0] === 'directory')
    return { path, kind: 'directory', executable: false, size: 0, hash: undefined };
  const [kind, , executable, size, hash] = parsed;
  return { path, kind, executable, size, hash: Buffer.from(hash, 'hex') };
}

/** Splits at newlines. JSON escapes a newline in a path, so it splits no item. */
async function* linesOf(source: AsyncIterable<Buffer> | Iterable<Buffer>): AsyncGenerator<string> {
  let kept: Buffer[] = [];
  let bytes = 0;
  for await (const piece of source) {
    bytes += piece.length;
    if (bytes > MAX_BYTES) throw corrupt('its list is too long');
    const end = piece.lastIndexOf(NEWLINE);
    if (end < 0) {
      kept.push(piece);
      continue;
    }
    const text = Buffer.concat([...kept, piece.subarray(0, end)]).toString();
    kept = [piece.subarray(end + 1)];
    yield* text.split('\n');
  }
  if (kept.some(({ length }) => length > 0)) throw corrupt('its list is cut off');
}
