/** `node info` and `stop`, for the node that the command runs on. */
import type { Command } from 'commander';
import { durationText } from '../../model/words.js';
import { STOPPING } from '../../operations/node-operations.js';
import { readNodeStats } from '../../operations/node-stats.js';
import { addCommand, type CommandContext, fieldsOf, type SharedOptions, show } from '../context.js';
import { offeredRuntimes, runtimesNotOffered } from '../runtime-text.js';

export function addNodeCommands(program: Command, context: CommandContext): void {
  const group = program.command('node').description('the node that this command runs on');
  addCommand(group, 'info', 'version, addresses, load and memory').action((options: SharedOptions) => {
    const info = readInfo(context);
    return show(
      context,
      options,
      () => info,
      () => describeInfo(info),
    );
  });
}

export function addStopCommand(program: Command, context: CommandContext): void {
  const about = 'end Drover as SIGTERM does; instances go on running';
  addCommand(program, 'stop', about).action(async (options: SharedOptions) => {
    await show(
      context,
      options,
      () => ({ message: STOPPING }),
      () => STOPPING,
    );
    context.dependencies.stopDaemon();
  });
}

type NodeInfo = ReturnType<typeof readInfo>;

function readInfo({ dependencies }: CommandContext) {
  const { configuration, version, nodes, apiCertificate, clock } = dependencies;
  const { nodeId, clusterName, address, port, apiPort, isMasterNode } = configuration;
  return {
    nodeId,
    clusterName,
    role: isMasterNode ? 'master' : 'wrapper',
    address,
    port,
    apiPort,
    apiCertificate: apiCertificate?.describe(clock.now()) ?? null,
    ...readNodeStats(version),
    runtimes: nodes.get(nodeId)?.value.runtimes ?? [],
    advisoryLimits: nodes.get(nodeId)?.value.advisoryLimits,
  };
}

function describeInfo(info: NodeInfo): Promise<string> {
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

function tlsText(certificate: NodeInfo['apiCertificate']): string {
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
