/** What a node gets that becomes a master of the cluster: where the state is, how to reach it, and the key of the masters. */
import { z } from 'zod';
import { nameSchema } from '../../model/names.js';
import { etcdSettingsSchema } from '../../model/settings/store-settings.js';

/** Files that the settings of the store name. */
export const STORE_FILES = ['ca', 'cert', 'key', 'passwordFile'] as const;

const fileText = z.string().max(64 * 1024);

export const masterHandoverSchema = z.object({
  clusterName: nameSchema,
  nodeTimeoutMs: z.int(),
  /** As in the master's `config.json`, with its prefix. The files that it names are in `files`. */
  store: etcdSettingsSchema,
  /** What is in those files. */
  files: z.object({
    ca: fileText.optional(),
    cert: fileText.optional(),
    key: fileText.optional(),
    passwordFile: fileText.optional(),
  }),
  /** The text of `data/cluster/cluster.key`. */
  clusterKey: z.string().max(1000),
  /** The operator's key, where that master has it: commands work on any master. Who holds clusterKey could make one. */
  adminKey: z.string().max(1000).optional(),
});
export type MasterHandover = z.output<typeof masterHandoverSchema>;
