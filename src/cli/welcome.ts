/**
 * The text that a person reads when a node has started: what runs, where the API and its key are, and what to
 * paste.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { offeredRuntimes, runtimesNotOffered } from '../command-tree/runtime-text.js';
import { renderTable } from '../command-tree/table.js';
import type { Daemon } from '../daemon/daemon.js';
import type { InstanceRecord } from '../model/instance.js';
import { hostPort } from '../model/plain/host-port.js';
import { NO_HOST_PID } from '../model/run/run-identity.js';
import { shellWord } from '../model/words.js';

/**
 * The root of the package: two directories up from this source file, and also from the built file that contains it.
 */
const PACKAGE = fileURLToPath(new URL('../..', import.meta.url));
const EXAMPLE = ['configurations', 'templates'];

/** `hasPrompt`: a prompt follows the text. `dashboard`: the lines about the dashboard; empty: there is no dashboard. */
export function describeWelcome(
  daemon: Daemon,
  hasPrompt: boolean,
  dashboard: readonly string[],
): readonly string[] {
  const { configuration, paths, apiUrl, apiCertificate } = daemon;
  const certificate = apiCertificate?.describe(Date.now());
  const isOwn = certificate?.source === 'cluster';
  return [
    '',
    `Drover is running as node ${configuration.nodeId} in ${paths.root}`,
    '',
    ...describeInstances(daemon.instances(), paths.root),
    ...daemon.fileErrors().map((line) => `  broken   configurations/${line}`),
    '',
    `  API      ${apiUrl}`,
    ...(isOwn ? [`  CA       ${paths.apiAuthority}`, `           SHA-256 ${certificate.fingerprint}`] : []),
    ...(certificate?.problem == null ? [] : [`  broken   ${certificate.problem}`]),
    ...dashboard.map((line, index) => `  ${index === 0 ? 'page    ' : '        '} ${line}`),
    `  runtimes ${offeredRuntimes(daemon.offers())}`,
    ...runtimesNotOffered(daemon.offers()).map((line) => `           ${line}`),
    `  key      ${paths.adminKey}`,
    `  log      ${paths.droverLog}`,
    `  stop     Ctrl-C${hasPrompt ? ' twice' : ''} stops the instances too; SIGTERM leaves them running for the next start`,
    ...(hasPrompt ? ['  console  type help'] : []),
    '',
    'Try:',
    `  curl ${isOwn ? `--cacert ${shellWord(paths.apiAuthority)} ` : ''}-H "Authorization: Bearer $(cat ${shellWord(paths.adminKey)})" ${apiUrl}/instances`,
    '',
  ];
}

function describeInstances(instances: readonly InstanceRecord[], root: string): string[] {
  if (instances.length === 0)
    return [
      '  No instances yet: put a JSON file into configurations/. For an example, two small web servers:',
      `  cp -r ${EXAMPLE.map((folder) => shellWord(join(PACKAGE, folder))).join(' ')} ${shellWord(root)}`,
    ];
  const rows = instances
    .slice(0, 20)
    .map(({ id, configurationName, status, placement }) => [
      id,
      configurationName,
      status.state,
      placement?.port == null ? '' : hostPort(placement.hostAddress, placement.port),
      status.pid === NO_HOST_PID ? 'container' : status.pid && `pid ${status.pid}`,
      status.message,
    ]);
  const lines = renderTable([], rows)
    .split('\n')
    .map((line) => `  ${line}`);
  return instances.length > rows.length
    ? [...lines, `  ... and ${instances.length - rows.length} more`]
    : lines;
}
