/** `node info` and `stop`, for the node that serves the command. */

import type { NodeStats } from '../../api/routes/node-routes.js';
import type { ApiCertificateInfo } from '../../channel/trust/api-certificate.js';
import type { NodeConfiguration, RuntimeOffer } from '../../model/node.js';
import { durationText } from '../../model/plain/duration-text.js';
import { describe, fieldsOf, messageText, noInput } from '../command.js';
import { offeredRuntimes, runtimesNotOffered } from '../runtime-text.js';

type Own = Pick<NodeConfiguration, 'nodeId' | 'clusterName' | 'address' | 'port' | 'apiPort'>;

export interface NodeInfo extends NodeStats, Readonly<Own> {
  readonly role: string;
  /** The certificate of the API; null: the API has no TLS; undefined: not known, because another master leads. */
  readonly apiCertificate: ApiCertificateInfo | null | undefined;
  readonly runtimes: readonly RuntimeOffer[];
  /** Why limits are not enforced; null: limits are enforced; undefined: the node has not reported. */
  readonly advisoryLimits: string | null | undefined;
}

export const NODE_COMMANDS = {
  'node info': describe({
    about: 'version, addresses, load and memory',
    input: noInput,
    text: (info: NodeInfo) => describeInfo(info),
    names: ({ nodeId }) => [nodeId],
  }),
};

export const STOP_COMMANDS = {
  stop: describe({
    about: 'end Drover as SIGTERM does; instances go on running',
    input: noInput,
    text: (answer: { readonly message: string }) => messageText(answer),
    destroys: () => 'its master stops; instances go on running',
  }),
};

function describeInfo(info: NodeInfo): string {
  return fieldsOf({
    node: info.nodeId,
    cluster: info.clusterName,
    role: info.role,
    version: `${info.version} on Node.js ${info.nodeVersion}`,
    address: info.address,
    'API port': info.apiPort,
    'API TLS': tlsText(info.apiCertificate),
    'cluster port': info.port,
    pid: info.pid,
    uptime: durationText(info.uptimeSeconds * 1000),
    load: `${info.loadAverage.map((load) => load.toFixed(2)).join(', ')} on ${info.cpus} cores`,
    memory: `${info.memoryFreeMB} of ${info.memoryTotalMB} MB free; Drover uses ${info.processRssMB} MB`,
    runtimes: [offeredRuntimes(info.runtimes), ...runtimesNotOffered(info.runtimes)].join('; '),
    limits: limitsText(info.advisoryLimits),
  });
}

function tlsText(certificate: ApiCertificateInfo | null | undefined): string | undefined {
  if (certificate === undefined) return undefined;
  if (certificate === null) return 'none';
  const { source, fingerprint, names, endsAt, problem } = certificate;
  const whose = source === 'cluster' ? "the cluster's own authority" : 'certificate';
  const what = `for ${names.join(', ')}; until ${new Date(endsAt).toISOString().slice(0, 10)}`;
  return `${whose} SHA-256 ${fingerprint}; ${what}${problem === null ? '' : `; ${problem}`}`;
}

function limitsText(advisory: string | null | undefined): string | undefined {
  if (advisory === undefined) return undefined;
  return advisory === null ? 'ramMB and cpu hold' : `advisory: ${advisory}`;
}
