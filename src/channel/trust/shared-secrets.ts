/**
 * The secrets that all masters of a cluster have in common, so that every leader has the same authority. They are
 * sealed in the store when masters share it, and otherwise kept in files of the only master.
 */
import { remembered } from '../../loop/remembered.js';
import {
  corruptStore,
  type DroverError,
  invalidNodeConfiguration,
  unusableRoot,
} from '../../model/errors.js';
import { PREFIX, secretKey } from '../../store/keys.js';
import { create, type Store } from '../../store/store.js';
import type { SecretFile } from './authority.js';
import {
  type ClusterKey,
  clusterKeyText,
  generateClusterKey,
  openSecret,
  readClusterKey,
  sealedSecretSchema,
  sealingWith,
  sealSecret,
} from './cluster-key.js';

/** A secret text that is read at the start, and written once. */
type KeptSecret = Pick<SecretFile, 'name' | 'read' | 'write'>;

interface SharedSecretsOptions {
  readonly store: Pick<Store, 'get' | 'list' | 'transact'>;
  /** The file `data/cluster/cluster.key`. */
  readonly keyFile: SecretFile;
  /** True when other masters use the store too. */
  readonly isShared: boolean;
}

export class SharedSecrets {
  readonly #options: SharedSecretsOptions;
  /**
   * The cluster's key, for a node that becomes a master. Made at the first call for a store that holds no secret yet.
   */
  readonly clusterKey = remembered(() => this.#findKey());

  /** The seal of the secrets of programs. Throws DRV_NODE_CONFIG_INVALID when the cluster's key is missing. */
  readonly sealing = remembered(async () => sealingWith(await this.clusterKey()));

  constructor(options: SharedSecretsOptions) {
    this.#options = options;
  }

  /**
   * The secret of this name. The store's value wins over `file`, even when no other master uses the store any more. At
   * the first read, a shared store gets a secret that only the file holds. Only a leader may be the first to read or
   * write. Reading throws DRV_NODE_CONFIG_INVALID when the cluster's key is missing.
   */
  secret(name: string, file: KeptSecret): KeptSecret {
    const { isShared } = this.#options;
    return {
      name: file.name,
      read: async () => {
        const sealed = await this.#open(name);
        if (sealed !== undefined) return sealed;
        const text = await file.read();
        if (text !== undefined && isShared) await this.#seal(name, text);
        return text;
      },
      write: (text) => (isShared ? this.#seal(name, text) : file.write(text)),
    };
  }

  async #findKey(): Promise<ClusterKey> {
    const { keyFile, store } = this.#options;
    const text = await keyFile.read();
    if (text === undefined) {
      const sealed = await Promise.all([store.list(PREFIX.secrets), store.list(PREFIX.programSecrets)]);
      if (sealed.some(({ entries }) => entries.length > 0)) throw withoutKey(keyFile.name);
      const made = generateClusterKey();
      await keyFile.write(clusterKeyText(made));
      return made;
    }
    const key = readClusterKey(text);
    if (key !== undefined) return key;
    throw unusableRoot(
      `${keyFile.name} is damaged: copy it from another master of the cluster, or from a backup`,
    );
  }

  async #open(name: string): Promise<string | undefined> {
    const entry = await this.#options.store.get(secretKey(name));
    if (entry === undefined) return undefined;
    const { data } = sealedSecretSchema.safeParse(entry.value);
    if (data === undefined) throw corruptStore(`the sealed secret "${name}" in the store cannot be read`);
    return openSecret(await this.clusterKey(), name, data);
  }

  async #seal(name: string, text: string): Promise<void> {
    const key = await this.clusterKey();
    await create(this.#options.store, secretKey(name), sealSecret(key, name, text));
  }
}

function withoutKey(file: string): DroverError {
  return invalidNodeConfiguration(
    `the secrets of this cluster are sealed, and this node does not have the key (${file}): run "drover join --as-master" with a token of a master, or copy the file from one`,
  );
}
