/**
 * Starts a node that is only a wrapper, without an API or a state of its own. The node joins a master on another
 * machine.
 */

import { type JoinToken, parseJoinToken } from '../channel/trust/join-token.js';
import { renewalServices } from '../channel/trust/renewal.js';
import { KnownMasters, mastersServices } from '../channel/wrapper/known-masters.js';
import { Membership } from '../channel/wrapper/membership.js';
import { invalidNodeConfiguration, messageOf } from '../model/errors.js';
import { dropJoinToken } from '../node/main-configuration.js';
import { SecretDirectory } from '../node/secret-files.js';
import type { Assembly } from './assembly.js';
import { MemberNode } from './member-node.js';
import { silenceOf } from './start-cluster.js';
import { startWrapper, untilFed } from './start-wrapper.js';

const TOKEN_VARIABLE = 'DROVER_JOIN_TOKEN';

/**
 * Starts the node. Throws DRV_NODE_CONFIG_INVALID when it has never joined and has no token. Throws DRV_JOIN_REFUSED
 * when the master refuses its first join, because the node then has no master at all.
 */
export async function startMemberNode(assembly: Assembly): Promise<MemberNode> {
  const { configuration, shared, extensions, running, stop, fail } = assembly;
  const { logger, clock } = shared;
  const masters = buildMasters(assembly);
  await masters.open();
  running.onStop(() => masters.written());
  const membership = buildMembership(assembly, masters);
  await membership.open();
  await membership.joinFirst(new AbortController().signal);
  await running.start(extensions);
  const wrapper = await startWrapper(assembly, {
    connect: (signal) => membership.connect(signal),
    endRefused: (reason) => fail(`the master at ${membership.masterAddress} refuses this node: ${reason}`),
    masters,
    services: { ...renewalServices(membership), ...mastersServices(masters) },
  });
  await untilFed(wrapper, clock);
  return new MemberNode({
    nodeId: configuration.nodeId,
    paths: assembly.paths,
    masterAddress: () => membership.masterAddress,
    logger,
    wrapper,
    running,
    stop,
  });
}

function buildMasters({ paths, configuration, shared, older }: Assembly): KnownMasters {
  const { masterAddress: host, masterPort: port } = configuration;
  const file = new SecretDirectory(paths.cluster).file('masters.json');
  return new KnownMasters({ ...shared, contact: { host, port }, file, older });
}

function buildMembership(
  { paths, configuration, shared, older }: Assembly,
  masters: KnownMasters,
): Membership {
  const { nodeId, clusterName } = configuration;
  const files = new SecretDirectory(paths.cluster);
  return new Membership({
    ...shared,
    nodeId,
    clusterName,
    masters,
    silenceMs: silenceOf(configuration),
    token: tokenOf(configuration.joinToken),
    memberFile: files.file('member.json'),
    joiningFile: files.file('joining.json'),
    onJoined: async () => {
      // The node may have joined another cluster: accept a store that is older than the node's last one.
      older.isAccepted = true;
      try {
        await dropJoinToken(paths.configFile);
      } catch (error) {
        shared.logger.warn(
          { err: error },
          `the join token is used, but could not be taken out of config.json: ${messageOf(error)}`,
        );
      }
    },
  });
}

/** The join token. A token in the environment has priority over a token in the file. */
function tokenOf(configured: string | undefined): JoinToken | undefined {
  const given = process.env[TOKEN_VARIABLE];
  const [text, where] =
    given === undefined || given === ''
      ? [configured, 'config.json: joinToken']
      : [given.trim(), `environment variable ${TOKEN_VARIABLE}`];
  if (text === undefined) return undefined;
  try {
    return parseJoinToken(text);
  } catch (error) {
    throw invalidNodeConfiguration(`${where}: ${messageOf(error)}`);
  }
}
