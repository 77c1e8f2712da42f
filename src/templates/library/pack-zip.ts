/** Packs a tree as a zip: on the master for an export, in the client for a copy into a template. */
import { PassThrough, Readable } from 'node:stream';
import { ZipFile as ZipWriter } from 'yazl';
import { templateUnsafe } from '../../model/errors.js';
import { readContent } from '../tree/digest.js';
import type { TreeEntry, TreePlace } from '../tree/tree.js';

const DIRECTORY_MODE = 0o40_755;
const FILE_MODE = 0o100_644;
const PROGRAM_MODE = 0o100_755;
/**
 * The first day that a zip can name. A fixed time makes equal zips of equal trees: a zip has the local time, whatever
 * the zone.
 */
const times = () => ({ mtime: new Date(1980, 0, 1), forceDosTimestamp: true });

/**
 * The zip of a walked tree, made while it is read: in the order of the walk, modes kept, times fixed. `nameIn` maps a
 * path to its name in the zip. The stream ends with an error when a file has changed since the walk. Throws
 * DRV_TEMPLATE_UNSAFE for a name that no zip can hold.
 */
export function packZip(
  place: TreePlace,
  entries: readonly TreeEntry[],
  nameIn: (path: string) => string = (path) => path,
): Readable {
  const stopped = new AbortController();
  const zip = new ZipWriter();
  const output = outputOf(zip);
  /** The file that is being read. It pauses while the reader of the zip does. */
  let source: Readable | undefined;
  output.once('close', () => {
    stopped.abort();
    source?.destroy();
  });
  for (const entry of entries) {
    const { path, kind, executable, size } = entry;
    if (path.includes('\\'))
      throw templateUnsafe(
        `${place.label}: ${path} has a backslash in its name, which no zip can hold: rename it`,
      );
    if (kind === 'directory') zip.addEmptyDirectory(nameIn(path), { ...times(), mode: DIRECTORY_MODE });
    else {
      const mode = executable ? PROGRAM_MODE : FILE_MODE;
      zip.addReadStreamLazy(nameIn(path), { ...times(), mode, size }, (ready) => {
        source = Readable.from(readContent(place, entry, stopped.signal));
        source.once('error', (error) => output.destroy(error));
        ready(null, source);
      });
    }
  }
  zip.end();
  return output;
}

/** The zip of one file, whose content comes from a stream. Ends with the error of the stream. */
export function packContent(content: Readable, name: string): Readable {
  const zip = new ZipWriter();
  const output = outputOf(zip);
  content.once('error', (error) => output.destroy(error));
  // Its mode is not known: whoever unpacks it looks at its first bytes.
  zip.addReadStream(content, name, { ...times(), mode: 0 });
  zip.end();
  return output;
}

/** The bytes of the zip. The stream ends with the zip's error. */
function outputOf(zip: ZipWriter): PassThrough {
  const output = new PassThrough();
  zip.on('error', (error) => output.destroy(error));
  zip.outputStream.pipe(output);
  return output;
}
