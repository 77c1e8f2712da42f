/** The template fields of a configuration. The trees themselves are in `src/templates`. */
import { z } from 'zod';
import { commitSchema, nameSchema, sha256Schema } from './names.js';

/** The key of the storage that is `templates/` of the master; every other key names a provider. */
export const LOCAL_STORAGE = 'local';

/** A template by name. `storage` is its provider; `local` is `templates/` of the master. */
export const templateReferenceSchema = z.object({
  name: nameSchema,
  group: nameSchema,
  storage: nameSchema.default(LOCAL_STORAGE),
  /** The order of installation: lower first. When two templates hold the same path, the higher priority wins. */
  priority: z.int().min(-1_000_000).max(1_000_000).default(0),
});

export const templateInstallationSchema = z.object({
  allOf: z.array(templateReferenceSchema).max(256).default([]),
  allInGroups: z.array(nameSchema).max(256).default([]),
  oneOf: z.array(templateReferenceSchema).max(256).default([]),
  oneInGroups: z.array(nameSchema).max(256).default([]),
  onTemplatePasteOverridePresentFiles: z.boolean().default(false),
});

export type TemplateReference = z.output<typeof templateReferenceSchema>;
export type TemplateInstallation = z.output<typeof templateInstallationSchema>;

/** A template as it is installed: its tree, and its place in the order. */
export interface ResolvedTemplate {
  readonly group: string;
  readonly name: string;
  readonly priority: number;
  /** Null: the master does not have the tree (yet). */
  readonly digest: string | null;
  /**
   * Why there is no digest, for a person; undefined: the master has no such directory. Beside a digest: the master
   * looks for a newer tree, and this digest is the tree that it has.
   */
  readonly problem?: string | undefined;
}

/**
 * Neighbouring files in a tree's manifest (`src/templates/transfer/manifest.ts`): the place of the first, and their
 * number.
 */
export type FileRange = readonly [first: number, count: number];
/** The most ranges in one request. A wrapper that lacks more asks for the whole tree. */
export const MAX_FILE_RANGES = 20_000;

/** The bytes and files that the channel carried for a tree; zero when it was there already. */
export interface FetchCost {
  readonly transferredBytes: number;
  readonly transferredFiles: number;
}

/** The longest `problem` in characters; no message of Drover is that long. */
const MOST_PROBLEM_CHARS = 65_536;

/** The result of one node for one tree of a sync. */
export const treeResultSchema = z.object({
  digest: z.string(),
  outcome: z.enum(['had', 'fetched', 'failed']),
  bytes: z.number(),
  files: z.int(),
  /** Why it failed; null: it succeeded. */
  problem: z.string().max(MOST_PROBLEM_CHARS).nullable(),
});
export type TreeResult = z.output<typeof treeResultSchema>;

/** The state of a sync on one node. */
const nodeSyncSchema = z.object({
  nodeId: z.string(),
  state: z.enum(['waiting', 'fetching', 'done', 'failed']).describe('`failed`: not all trees are there'),
  trees: z.int().describe('different trees that it should have'),
  had: z.int().describe('trees that it had'),
  fetched: z.int(),
  failed: z.int(),
  bytes: z.number().describe('what came over the channel for them'),
  files: z.int().describe('files that came; others it shared with trees that it had'),
  durationMs: z.number(),
  problems: z.array(z.string()).describe('why trees are not there; the first ten'),
});
export type NodeSync = z.output<typeof nodeSyncSchema>;

/** The latest sync to the cluster. */
export const clusterSyncSchema = z.object({
  pattern: z.string(),
  at: z.number().describe('Unix milliseconds'),
  templates: z.array(z.string()).describe('group/name'),
  leftOut: z.array(z.string()).describe('templates that could not be sent, and why'),
  isOver: z.boolean(),
  nodes: z.array(nodeSyncSchema),
});
export type ClusterSyncReport = z.output<typeof clusterSyncSchema>;

/** A local template of masters that share a store: `templates/<group>/<name>`. The masters hold the files. */
export const templateRecordSchema = z.object({
  /** The digest of the tree: the hash of its manifest, which names each file by its hash. */
  digest: sha256Schema,
  /** The node whose directory brought it. */
  sourceNode: nameSchema,
  /** The last commit that changed the template in the clone that brought it. Absent: git does not own it. */
  commit: commitSchema.optional(),
});
export type TemplateRecord = z.output<typeof templateRecordSchema>;
