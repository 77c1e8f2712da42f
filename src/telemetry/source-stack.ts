/**
 * Makes a stack name our source files: the built program is a bundle, and its maps lie beside it. Node's own support
 * reads every map at the start, which costs time and memory; this reads one when an error is written down.
 */
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, resolve } from 'node:path';

const PLACE = /(?:file:\/\/)?(\/[^\s():]+\.js):(\d+):(\d+)/g;

export class SourceStacks {
  /** Places of the bundle and of our files. An error that comes again costs nothing. */
  readonly #known = new Map<string, string>();

  /** The stack with our files in it; as it is where a file has no map. Never throws. */
  translate(stack: string): string {
    // For this stack only: a map in memory takes more than the whole program.
    const maps = new Map<string, SourceMap | undefined>();
    return stack.replace(PLACE, (place, file: string, line: string, column: string) => {
      let source = this.#known.get(place);
      if (source !== undefined) return source;
      if (!maps.has(file)) maps.set(file, readMap(file));
      source = sourcePlace(maps.get(file), file, Number(line), Number(column)) ?? place;
      this.#known.set(place, source);
      return source;
    });
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
