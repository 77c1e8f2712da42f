/** Names and groups the operations of the API's description. Client generators turn the names into method names. */
import operationIds from './operation-ids.json' with { type: 'json' };
import tags from './tags.json' with { type: 'json' };

/** The names by method and path, as the router has them. A new route gets its name in that file. */
const OPERATION_IDS: Readonly<Record<string, string>> = operationIds;

/** The tags, each with the first segments of the paths that it has. */
export const TAGS: readonly { name: string; description: string; segments: string[] }[] = tags;

/** The name of an operation. Throws when the table has no name for it. */
export function operationId(method: string, path: string): string {
  const id = OPERATION_IDS[`${method} ${path}`];
  if (id === undefined)
    throw new Error(`${method} ${path} has no operation id: name it in openapi/operation-ids.json`);
  return id;
}

/** The tag of a path. Throws when no tag has the path's first segment. */
export function tagOf(path: string): string {
  const [, segment = ''] = path.split('/');
  const tag = TAGS.find(({ segments }) => segments.includes(segment));
  if (tag === undefined) throw new Error(`${path} belongs to no tag: add one in openapi/tags.json`);
  return tag.name;
}
