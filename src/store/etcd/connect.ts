/** Makes the client for the etcd that `config.json` names. */
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import type { Clock } from '../../loop/clock.js';
import { invalidNodeConfiguration, messageOf } from '../../model/errors.js';
import type { EtcdSettings } from '../../model/settings/store-settings.js';
import { EtcdClient } from './wire/client.js';

/**
 * Makes the client, which connects at its first call. `root`: the directory at which relative paths of `settings`
 * begin. Throws DRV_NODE_CONFIG_INVALID when a file cannot be read or used.
 */
export async function connectEtcd(settings: EtcdSettings, root: string, clock: Clock): Promise<EtcdClient> {
  const { endpoints, user, passwordFile } = settings;
  const read = async (field: 'ca' | 'cert' | 'key'): Promise<Record<string, Buffer>> => {
    const file = settings[field];
    return file === undefined ? {} : { [field]: await readNamed(`store.${field}`, resolve(root, file)) };
  };
  const tls = { ...(await read('ca')), ...(await read('cert')), ...(await read('key')) };
  checkCertificates(tls);
  if (user === undefined || passwordFile === undefined) return new EtcdClient({ endpoints, tls, clock });
  const file = resolve(root, passwordFile);
  await readNamed('store.passwordFile', file);
  return new EtcdClient({ endpoints, tls, user: { name: user, passwordFile: file }, clock });
}

/**
 * Checks the files at once. Node silently accepts a `ca` that is no certificate, and notices a wrong
 * certificate or key only when it connects.
 */
function checkCertificates(tls: {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}): void {
  try {
    if (tls.ca !== undefined) void new X509Certificate(tls.ca);
    createSecureContext(tls);
  } catch (error) {
    throw invalidNodeConfiguration(
      `config.json: store: ca, cert and key must be PEM files that belong together: ${messageOf(error)}`,
    );
  }
}

async function readNamed(field: string, file: string): Promise<Buffer> {
  return readFile(file).catch((error: unknown) => {
    throw invalidNodeConfiguration(`config.json: ${field}: ${messageOf(error)}`);
  });
}
