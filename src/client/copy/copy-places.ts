/** Parses `drover cp FROM TO`: which side is in a template, and what the other side is. */
import type { Readable, Writable } from 'node:stream';
import { usageError } from '../../command-tree/runs/client-error.js';
import { NAME } from '../../model/plain/name.js';
import { objectionTo } from '../../templates/tree/path-objection.js';

/** A local side of the copy. The kind `stream` is `-`: standard input or output. */
export type LocalPlace = { readonly kind: 'stream' } | { readonly kind: 'path'; readonly path: string };

export interface CopyStreams {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: NodeJS.WritableStream;
}

export interface TemplatePlace {
  readonly group: string;
  readonly name: string;
  /** The path inside the template, without a slash at its end; '': the template itself. */
  readonly path: string;
  /** True: the person typed a directory, with a slash at its end or as the template itself. */
  readonly isDirectory: boolean;
}

export interface Copy {
  readonly to: 'template' | 'local';
  readonly local: LocalPlace;
  readonly place: TemplatePlace;
}

const TEMPLATE_PLACE = /^([^/:]+)\/([^/:]+):([\s\S]*)$/;

/** Returns where to copy from and to. Throws a ClientError for a pair of places that cannot be copied. */
export function copyOf(from: string, to: string): Copy {
  const [source, target] = [templatePlaceOf(from), templatePlaceOf(to)];
  if (source === undefined && target !== undefined)
    return { to: 'template', local: localPlaceOf(from), place: target };
  if (source !== undefined && target === undefined)
    return { to: 'local', local: localPlaceOf(to), place: source };
  const problem = source === undefined ? 'neither side is in a template' : 'both sides are in a template';
  throw usageError(`${problem}: one must be group/name:PATH, the other one a path here, or -`);
}

/** Returns `config/a.txt of template games/lobby`, for messages. */
export function placeText({ group, name, path }: Pick<TemplatePlace, 'group' | 'name' | 'path'>): string {
  return path === '' ? `template ${group}/${name}` : `${path} of template ${group}/${name}`;
}

/** Throws a ClientError for a path that no file in a template can have, such as `../a`. */
export function checkPath(path: string, label = `the path ${path}`): void {
  const objection = objectionTo(path);
  if (objection !== undefined) throw usageError(`${label} ${objection}`);
}

/**
 * Parses a path in a template; undefined: a local path. A local path that looks like `group/name:path` is typed with
 * a leading `./`.
 */
function templatePlaceOf(text: string): TemplatePlace | undefined {
  const [, group = '', name = '', typed = ''] = TEMPLATE_PLACE.exec(text) ?? [];
  if (!NAME.test(group) || !NAME.test(name)) return undefined;
  // A leading slash means the template's root, so drop it.
  const path = typed.replace(/^\//, '').replace(/\/$/, '');
  if (path !== '') checkPath(path);
  return { group, name, path, isDirectory: path === '' || typed.endsWith('/') };
}

function localPlaceOf(text: string): LocalPlace {
  return text === '-' ? { kind: 'stream' } : { kind: 'path', path: text };
}
