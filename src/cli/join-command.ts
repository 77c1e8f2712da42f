/**
 * `drover join`: asks the master whether the node may join, and writes a config.json with which the node joins when
 * it starts. With `--as-master` the command itself joins (`join-as-master.ts`).
 */
import { stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { PROTOCOL_VERSION } from '../channel/protocol/messages.js';
import { joinCheckQuestion } from '../channel/trust/join-messages.js';
import { parseJoinToken } from '../channel/trust/join-token.js';
import { ElsewhereError } from '../channel/wrapper/join-question.js';
import { MasterDialer } from '../channel/wrapper/master-dialer.js';
import { readMemberKey } from '../channel/wrapper/membership.js';
import { electionPatience } from '../client/connection/election-patience.js';
import { SystemClock } from '../loop/system-clock.js';
import { invalidNodeConfiguration } from '../model/errors.js';
import { nameSchema } from '../model/names.js';
import { defaultNodeId, type NodeConfiguration } from '../model/node.js';
import { type HostPort, parseHostPort } from '../model/plain/host-port.js';
import { shellWord } from '../model/words.js';
import { changeMainConfiguration, readMainConfiguration } from '../node/main-configuration.js';
import { prepareRoot, type RootPaths } from '../node/root.js';
import { acquireRootLock } from '../node/root-lock.js';
import { SecretDirectory } from '../node/secret-files.js';
import { becomeMaster } from './join-as-master.js';

export interface JoinOptions {
  /** The cluster address of the master, as `host:port`. */
  readonly master: string;
  readonly nodeId?: string;
  readonly address?: string;
  readonly asMaster?: true;
  /**
   * Called with a line when the join waits for the masters to elect a leader. Absent: the join fails at once
   * instead.
   */
  readonly say?: (line: string) => void;
}

const SILENCE_MS = 6000;
const AGAIN_MS = 1000;

/**
 * Returns the text to print. Changes config.json only if the master would let the node in: the cluster made the
 * token, the token can still be used, and the name is free. Throws DroverErrors with one clear line.
 */
export async function joinCluster(root: string, text: string, options: JoinOptions): Promise<string> {
  const token = parseJoinToken(text);
  const master = parseMaster(options.master);
  const directory = resolve(root);
  const present = await readMainConfiguration(join(directory, 'config.json'));
  await refuseMaster(directory, present);
  const nodeId = nodeIdOf(options.nodeId) ?? present?.nodeId ?? defaultNodeId(hostname());
  const dialer = new MasterDialer({ ...master, silenceMs: SILENCE_MS, clock: new SystemClock() });
  if (options.asMaster === true) {
    const { address, say } = options;
    return underLock(root, (paths) =>
      untilLed(() => becomeMaster({ token, nodeId, address, paths, dialer }), say),
    );
  }
  const secrets = new SecretDirectory(join(directory, 'data', 'cluster'));
  const files = { memberFile: secrets.file('member.json'), joiningFile: secrets.file('joining.json') };
  const publicKey = await readMemberKey(files, { nodeId, token });
  const { id: tokenId, secret, fingerprint } = token;
  const question = {
    protocol: PROTOCOL_VERSION,
    tokenId,
    secret,
    nodeId,
    ...(publicKey !== undefined && { publicKey }),
  };
  const { signal } = new AbortController();
  const { answer, localAddress } = await untilLed(
    () => dialer.ask(fingerprint, joinCheckQuestion(question), signal),
    options.say,
  );
  return underLock(root, async (paths) => {
    const { address } = await changeMainConfiguration(paths.configFile, {
      isMasterNode: false,
      masterAddress: master.host,
      masterPort: master.port,
      clusterName: answer.clusterName,
      joinToken: text,
      nodeId,
      address: options.address ?? localAddress,
    });
    return [
      `${paths.configFile} makes this node ${nodeId}, at ${address}, of the cluster at ${dialer.address}.`,
      'Start it, and it joins:',
      `  drover start --root ${shellWord(paths.root)}`,
      '',
    ].join('\n');
  });
}

/** Repeats the question while no master leads. The repetition is safe, because no master acted on the question. */
async function untilLed<T>(ask: () => Promise<T>, say: JoinOptions['say']): Promise<T> {
  const again = electionPatience(say);
  for (;;) {
    const answer = await ask().catch((error: unknown) => {
      if (error instanceof ElsewhereError && error.leader === null) return error;
      throw error;
    });
    if (!(answer instanceof ElsewhereError)) return answer;
    if (!(await again(AGAIN_MS))) throw answer;
  }
}

/** Runs `work` under the lock of a root that no daemon uses. Makes missing directories first. */
async function underLock(root: string, work: (paths: RootPaths) => Promise<string>): Promise<string> {
  const paths = await prepareRoot(root);
  const lock = await acquireRootLock(paths);
  try {
    return await work(paths);
  } finally {
    lock.release();
  }
}

/** Check the name here: the master's answer to a wrong name would not mention the option. */
function nodeIdOf(text: string | undefined): string | undefined {
  const { success, error } = nameSchema.optional().safeParse(text);
  if (success) return text;
  throw invalidNodeConfiguration(`--node-id ${error.issues[0]?.message ?? 'is not valid'}`);
}

function parseMaster(text: string): HostPort {
  const master = parseHostPort(text);
  if (master !== undefined) return master;
  throw invalidNodeConfiguration(
    '--master must be the address and the cluster port of the master, such as 10.0.0.1:6000 or [fd00::1]:6000',
  );
}

/** Refuses the root of a master: the join would neither use nor remove the master's state. */
async function refuseMaster(directory: string, present: NodeConfiguration | undefined): Promise<void> {
  const status = await stat(join(directory, 'data', 'admin.key')).catch(() => undefined);
  if (status === undefined) return;
  const what =
    present?.store.kind === 'etcd'
      ? `${directory} is master ${present.nodeId} of cluster ${present.clusterName} already, with the state on etcd at ` +
        `${present.store.endpoints.join(', ')}: start it with "drover start --root ${shellWord(directory)}"`
      : `${directory} is the directory of a master, with a state of its own`;
  throw invalidNodeConfiguration(`${what}; for another node, give another directory with --root`);
}
