/**
 * Makes a stack name Drover's source files: the built program is a bundle, with its source maps beside it. Node's own
 * support reads every map at the start, which costs time and memory. This class reads a map only when an error is
 * logged.
 */
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { attempt } from '../model/plain/attempt.js';

/** The directory of the built program, in which this file is a chunk (rolldown.config.ts). */
const PROGRAM = fileURLToPath(new URL('..', import.meta.url));
/**
 * The most remembered places, more than the frames of the program's own errors. A stack also holds texts from outside,
 * which could name any number of places.
 */
const MOST_PLACES = 1000;
const FRAME = /^ +at .+/gm;
const PLACE = /(?<=[ (])(?:file:\/\/)?(\/[^\s():]+\.js):(\d+):(\d+)/g;

export class SourceStacks {
  readonly #directory: string;
  /** The source places by places in the bundle, so that a repeated error costs nothing. */
  readonly #places = new Map<string, string>();
  /**
   * The source maps. Each is read when needed and then left to the garbage collector, because a map takes more memory
   * than the whole program.
   */
  readonly #maps = new Map<string, WeakRef<SourceMap>>();

  /** `directory`: absolute, with a slash at its end. Only frames of files below it are translated. */
  constructor(directory: string = PROGRAM) {
    this.#directory = directory;
  }

  /**
   * The stack with source files in it. A frame stays unchanged when its file has no map, and after 1,000 different
   * places. Never throws.
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
    const map = attempt(() => new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8'))));
    if (map !== undefined) this.#maps.set(file, new WeakRef(map));
    return map;
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
