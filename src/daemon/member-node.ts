/**
 * A running node that is only a wrapper, with the few commands of its prompt. The executable uses it like a node with a
 * master.
 */
import { offeredRuntimes, runtimesNotOffered } from '../command-tree/runtime-text.js';
import type { RunningParts } from '../loop/lifecycle.js';
import { countText } from '../model/words.js';
import type { RootPaths } from '../node/root.js';
import type { Logger } from '../telemetry/logger.js';
import type { Wrapper } from '../wrapper.js';

const LOOK_EVERY_MS = 50;
/** How many instances the text after the start names at most. */
const MOST_SHOWN = 20;

const COMMANDS: Readonly<Record<string, string>> = {
  help: 'these commands; all others run on the master',
  status: 'the master, and what this node holds',
  stop: 'end Drover; instances go on running',
};

interface MemberNodeParts {
  readonly nodeId: string;
  readonly paths: Pick<RootPaths, 'root' | 'droverLog'>;
  /** The `host:port` of the last master that the node dialled. */
  readonly masterAddress: () => string;
  readonly logger: Logger;
  readonly wrapper: Pick<Wrapper, 'status' | 'aliveInstances' | 'stopInstances'>;
  readonly running: Pick<RunningParts, 'stop'>;
  /** Ends the process as SIGTERM does. */
  readonly stop: () => void;
}

/** The command tree, for the prompt. */
interface MemberCommands {
  run(line: string, session: { write(text: string): void }): Promise<void>;
  complete(line: string): Promise<[string[], string]>;
}

export class MemberNode {
  readonly logger: Logger;
  readonly commands: MemberCommands;
  readonly #parts: MemberNodeParts;

  constructor(parts: MemberNodeParts) {
    this.#parts = parts;
    this.logger = parts.logger;
    this.commands = { run: (line, session) => this.#run(line, (text) => session.write(text)), complete };
  }

  /** The text for the operator after the start. */
  describe({ hasPrompt }: { readonly hasPrompt: boolean }): readonly string[] {
    const { nodeId, paths, wrapper } = this.#parts;
    const { offers } = wrapper.status();
    return [
      '',
      `Drover is running as node ${nodeId}, a wrapper, in ${paths.root}`,
      '',
      ...this.#describeStatus(),
      '',
      `  runtimes ${offeredRuntimes(offers)}`,
      ...runtimesNotOffered(offers).map((line) => `           ${line}`),
      `  log      ${paths.droverLog}`,
      `  stop     Ctrl-C${hasPrompt ? ' twice' : ''} stops the instances too; SIGTERM leaves them running for the next start`,
      ...(hasPrompt ? ['  console  type help'] : []),
      '',
    ];
  }

  /** Resolves when every instance that should run here is up, or after `timeoutMs`. */
  async untilStanding(timeoutMs: number): Promise<void> {
    const endAt = performance.now() + timeoutMs;
    while (!this.#isStanding() && performance.now() < endAt)
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }

  /** The ids of the instances that live on this node, which `stopInstances` would end. */
  aliveInstances(): readonly string[] {
    return this.#parts.wrapper.aliveInstances();
  }

  /**
   * Ends every instance, with progress, for Ctrl-C. The desired state stays, so the next start brings the instances
   * back.
   */
  stopInstances(onProgress: (alive: readonly string[]) => void, signal: AbortSignal): Promise<void> {
    return this.#parts.wrapper.stopInstances(onProgress, signal);
  }

  /** Stops every part of the node. Instances go on running for the next daemon. Idempotent. */
  stop(): Promise<void> {
    return this.#parts.running.stop();
  }

  #isStanding(): boolean {
    return this.#parts.wrapper.status().instances.every(({ state }) => state !== 'CREATING');
  }

  #describeStatus(): string[] {
    const { wrapper, masterAddress } = this.#parts;
    const { isConnected, instances } = wrapper.status();
    const shown = instances
      .slice(0, MOST_SHOWN)
      .map(({ id, configurationName, state, message }) =>
        `  ${id}  ${configurationName}  ${state}  ${message ?? ''}`.trimEnd(),
      );
    const more = instances.length - shown.length;
    return [
      isConnected
        ? `  master   ${masterAddress()}, connected`
        : `  master   ${masterAddress()}, NOT connected: what it said last goes on, and the log says why`,
      `  holds    ${countText(instances.length, 'instance')}`,
      ...shown,
      ...(more > 0 ? [`  ... and ${more} more`] : []),
    ];
  }

  async #run(line: string, write: (text: string) => void): Promise<void> {
    switch (line.trim()) {
      case 'help':
        write(
          Object.entries(COMMANDS)
            .map(([name, about]) => `  ${name.padEnd(8)} ${about}\n`)
            .join(''),
        );
        return;
      case 'status':
        write(`${this.#describeStatus().join('\n')}\n`);
        return;
      case 'stop':
        write('Drover stops now. Instances go on running, and the next start takes them up.\n');
        this.#parts.stop();
        return;
      default:
        write(
          `error: this node is a wrapper and knows ${Object.keys(COMMANDS).join(', ')}; the master runs the rest\n`,
        );
    }
  }
}

async function complete(line: string): Promise<[string[], string]> {
  const typed = line.trimStart();
  return [Object.keys(COMMANDS).filter((name) => name.startsWith(typed)), typed];
}
