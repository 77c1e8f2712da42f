/**
 * The answer to a node that becomes a master of the cluster: where the state is, how to reach it, and the key of the
 * masters.
 */
import { z } from 'zod';
import { nameSchema } from '../../model/names.js';
import { etcdSettingsSchema } from '../../model/settings/store-settings.js';

/** The settings of the store that name files. */
export const STORE_FILES = ['ca', 'cert', 'key', 'passwordFile'] as const;

const fileText = z.string().max(64 * 1024);

export const masterHandoverSchema = z.object({
  clusterName: nameSchema,
  nodeTimeoutMs: z.int(),
  /**
   * The settings of the store in the master's `config.json`, with the store's key prefix. `files` holds the files
   * that these settings name.
   */
  store: etcdSettingsSchema,
  /** The contents of those files. */
  files: z.object({
    ca: fileText.optional(),
    cert: fileText.optional(),
    key: fileText.optional(),
    passwordFile: fileText.optional(),
  }),
  /** The text of `data/cluster/cluster.key`. */
  clusterKey: z.string().max(1000),
  /**
   * The operator's key, if the master has it, so that commands work on any master. A holder of clusterKey could make an
   * operator's key anyway.
   */
  adminKey: z.string().max(1000).optional(),
});
export type MasterHandover = z.output<typeof masterHandoverSchema>;
