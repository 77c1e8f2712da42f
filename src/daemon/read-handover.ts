/** Gathers what this master gives to a new master: the settings of the store, the files that they name, and the key. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { readAdminKey } from '../access/admin-key-file.js';
import { clusterKeyText } from '../channel/trust/cluster-key.js';
import { type MasterHandover, STORE_FILES } from '../channel/trust/master-handover.js';
import type { SharedSecrets } from '../channel/trust/shared-secrets.js';
import type { NodeConfiguration } from '../model/node.js';
import type { EtcdSettings } from '../model/settings/store-settings.js';
import type { RootPaths } from '../node/root.js';

interface HandoverSource {
  readonly paths: Pick<RootPaths, 'root' | 'adminKey'>;
  readonly configuration: NodeConfiguration;
  readonly store: EtcdSettings;
  readonly secrets: Pick<SharedSecrets, 'clusterKey'>;
}

/**
 * The handover. It reads the files anew, because the operator may have replaced them. Throws when a file cannot be
 * read.
 */
export async function readHandover({
  paths,
  configuration,
  store,
  secrets,
}: HandoverSource): Promise<MasterHandover> {
  const { clusterName, nodeTimeoutMs } = configuration;
  const files: MasterHandover['files'] = {};
  for (const field of STORE_FILES) {
    const file = store[field];
    if (file !== undefined) files[field] = await readFile(resolve(paths.root, file), 'utf8');
  }
  const clusterKey = clusterKeyText(await secrets.clusterKey());
  const admin = await readAdminKey(paths.adminKey);
  const prefix = store.prefix ?? `/drover/${clusterName}`;
  return {
    ...{ clusterName, nodeTimeoutMs, store: { ...store, prefix }, files, clusterKey },
    ...(admin.kind === 'token' && { adminKey: admin.token }),
  };
}
