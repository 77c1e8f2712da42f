/**
 * Makes a stack name our source files: the built program is a bundle, and its maps lie beside it. Node's own support
 * reads every map at the start, which costs time and memory; this reads one when an error is written down.
 */
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** In the built program, where this file is a chunk (rolldown.config.ts). */
const PROGRAM = fileURLToPath(new URL('..', import.meta.url));
/** More than the program has frames in its errors. A stack holds texts from outside, which could name any number. */
const MOST_PLACES = 1000;
const FRAME = /^ +at .+/gm;
const PLACE = /(?<=[ (])(?:file:\/\/)?(\/[^\s():]+\.js):(\d+):(\d+)/g;

export class SourceStacks {
  readonly #directory: string;
  /** Places of the bundle and of our files. An error that comes again costs nothing. */
  readonly #places = new Map<string, string>();
  /** Each is read once, and goes with the next garbage: a map in memory takes more than the whole program. */
  readonly #maps = new Map<string, WeakRef<SourceMap>>();

  /** `directory`: absolute, with a slash at its end. Only frames of files below it are translated. */
  constructor(directory: string = PROGRAM) {
    this.#directory = directory;
  }

  /**
   * The stack with our files in it. A frame stays as it is where its file has no map, and when it is one more than
   * 1,000 different ones. Never throws.
   */
  translate(stack: string): string {
    return stack.replace(FRAME, (frame) =>
      frame.replace(PLACE, (place, file: string, line: string, column: string) => {
        const known = this.#places.get(place);
        if (known !== undefined) return known;
        if (this.#places.size >= MOST_PLACES || !resolve(file).startsWith(this.#directory)) return place;
        const source = sourcePlace(this.#mapOf(file), file, Number(line), Number(column)) ?? place;
        this.#places.set(place, source);
        return source;
      }),
    );
  }

  #mapOf(file: string): SourceMap | undefined {
    const present = this.#maps.get(file)?.deref();
    if (present !== undefined) return present;
    const map = readMap(file);
    if (map !== undefined) this.#maps.set(file, new WeakRef(map));
    return map;
  }
}

function readMap(file: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')));
  } catch {
    return undefined;
  }
}

function sourcePlace(
  map: SourceMap | undefined,
  file: string,
  line: number,
  column: number,
): string | undefined {
  const entry = map?.findEntry(line - 1, column - 1);
  if (entry === undefined || !('originalSource' in entry)) return undefined;
  const { originalSource, originalLine, originalColumn } = entry;
  return `${resolve(dirname(file), originalSource)}:${originalLine + 1}:${originalColumn + 1}`;
}
