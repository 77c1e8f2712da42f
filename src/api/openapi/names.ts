/** Names and groups the operations of the API's description. Client generators turn the names into method names. */
import operationIds from './operation-ids.json' with { type: 'json' };

/** The names by method and path, as the router has them. A new route gets its name in that file. */
const OPERATION_IDS: Readonly<Record<string, string>> = operationIds;

interface Tag {
  readonly name: string;
  readonly description: string;
  /** The first segments of the paths with this tag. */
  readonly segments: readonly string[];
}

export const TAGS: readonly Tag[] = [
  {
    name: 'Node',
    description: 'The node that serves this API, and the API itself.',
    segments: ['ping', 'metrics', 'node', 'extensions', 'openapi.json'],
  },
  {
    name: 'Cluster',
    description:
      'The nodes that hold instances, the tokens with which they join, and the cluster as a whole.',
    segments: ['cluster', 'usage'],
  },
  { name: 'Instances', description: 'Processes made from configurations.', segments: ['instances'] },
  {
    name: 'Configurations',
    description: 'The contents that instances are made from, and how many instances should run.',
    segments: [
      'configurations',
      'configuration-files',
      'configuration-overrides',
      'plan',
      'schedules',
      'schemas',
    ],
  },
  {
    name: 'Rollouts',
    description: 'How changed configurations reach the instances that run.',
    segments: ['rollouts'],
  },
  {
    name: 'Templates',
    description: 'File trees that are copied into an instance before it starts.',
    segments: ['templates'],
  },
  {
    name: 'Commands',
    description: 'The command tree of the console, by request and by WebSocket.',
    segments: ['commands', 'console'],
  },
  {
    name: 'Watch',
    description: 'The state as it changes.',
    segments: ['watch', 'events', 'exits', 'webhooks'],
  },
  { name: 'Discovery', description: 'Addresses for proxies and monitoring.', segments: ['discovery'] },
  {
    name: 'Keys',
    description: 'The keys of this API, and the sessions of browsers and people.',
    segments: ['keys', 'sessions', 'whoami'],
  },
  { name: 'Audit', description: 'Who did what, from where, and how it ended.', segments: ['audit'] },
];

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
  if (tag === undefined) throw new Error(`${path} belongs to no tag: add one in openapi/names.ts`);
  return tag.name;
}
