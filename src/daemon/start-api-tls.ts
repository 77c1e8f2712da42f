/** Opens the certificate of the API: from the cluster's own authority, or from the operator's files. */
import { resolve } from 'node:path';
import { bindAddressOf, isLoopback } from '../api/http/bind-address.js';
import { CertificateFiles } from '../api/tls/certificate-files.js';
import { ApiCertificate } from '../channel/trust/api-certificate.js';
import type { Authority } from '../channel/trust/authority.js';
import { authorityFile } from '../runtime/installation/api-authority.js';
import type { Assembly } from './assembly.js';

const IN_CLEAR =
  'keys of the API, commands and logs travel in clear: the API listens beyond this machine without TLS; set apiTls in ' +
  'config.json, or keep it behind a proxy with TLS (docs/operations.md: TLS on the API)';

/**
 * The certificate; undefined: the API has no TLS. Throws DRV_NODE_CONFIG_INVALID when the operator's files cannot be
 * used.
 */
export async function openApiCertificate(
  { paths, configuration, shared, running }: Assembly,
  authority: Authority,
): Promise<ApiCertificate | undefined> {
  const { apiTls, apiNames } = configuration;
  const { clock, logger } = shared;
  if (apiNames !== undefined && apiTls !== 'cluster')
    logger.warn('config.json: apiNames has no effect without "apiTls": "cluster"');
  if (apiTls === undefined) {
    if (!isLoopback(await bindAddressOf(configuration))) logger.warn(IN_CLEAR);
    return undefined;
  }
  if (apiTls === 'cluster') {
    const { certificate } = await authority.ensure();
    const pem = certificate.toString();
    await authorityFile(paths.apiAuthority)(pem);
    return new ApiCertificate(await authority.serverCredential(), pem);
  }
  const files = new CertificateFiles({
    certificate: resolve(paths.root, apiTls.certificate),
    key: resolve(paths.root, apiTls.key),
    clock,
    logger,
  });
  const certificate = await files.open();
  await running.start(files);
  return certificate;
}
