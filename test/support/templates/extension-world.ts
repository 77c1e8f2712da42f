/** Extensions in a temporary directory, written as an operator does, and a registry that loads them. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pino } from 'pino';
import { BUILT_INS } from '../../../src/extensions/built-in/built-ins.js';
import type { ExtensionStatus } from '../../../src/extensions/extension.js';
import { ExtensionFaults, type FaultOwner } from '../../../src/extensions/extension-faults.js';
import { ExtensionRegistry } from '../../../src/extensions/registry.js';
import type { Clock } from '../../../src/loop/clock.js';
import { SystemClock } from '../../../src/loop/system-clock.js';
import { temporaryDirectory } from './template-trees.js';

export class ExtensionWorld {
  readonly root = temporaryDirectory();
  readonly directory = join(this.root, 'extensions');
  readonly instanceLogs = join(this.root, 'logs');
  /** The messages of the log, with their level. */
  readonly log: string[] = [];
  readonly logger = pino(
    { level: 'info', base: null, timestamp: false, formatters: { level: (level) => ({ level }) } },
    {
      write: (line) => {
        const { level, msg } = JSON.parse(line) as { level: string; msg: string };
        this.log.push(`${level}: ${msg}`);
        this.rawLog += line;
      },
    },
  );
  rawLog = '';
  registry: ExtensionRegistry | undefined;
  readonly #running = new AsyncLocalStorage<FaultOwner | undefined>();

  constructor() {
    mkdirSync(this.directory);
    mkdirSync(join(this.root, 'data'), { mode: 0o700 });
  }

  /** Writes `extensions/<path>`; an object becomes JSON. */
  write(path: string, content: string | object, mode = 0o600): void {
    const file = join(this.directory, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
    chmodSync(file, mode);
  }

  /** An extension whose `activate(context)` has this body. */
  extension(id: string, activate: string, more = ''): void {
    this.write(`${id}/index.js`, `export default { async activate(context) { ${activate} },\n${more} };\n`);
  }

  async start(
    options: { clock?: Clock; faults?: ExtensionFaults; activateLimitMs?: number } = {},
  ): Promise<ExtensionRegistry> {
    this.registry = new ExtensionRegistry({
      directory: this.directory,
      dataDirectory: join(this.root, 'data'),
      instanceLogs: this.instanceLogs,
      logLimits: { segmentBytes: 1024 * 1024, segments: 2 },
      nodeId: 'node-a',
      builtIns: BUILT_INS,
      clock: new SystemClock(),
      logger: this.logger,
      faults: new ExtensionFaults(this.#running),
      ...options,
    });
    await this.registry.start();
    return this.registry;
  }

  /** The status of an extension in `extension list`. When two share an id, it is the operator's, which comes last. */
  status(id: string): ExtensionStatus | undefined {
    return this.registry?.list().findLast((status) => status.id === id);
  }

  async stop(): Promise<void> {
    await this.registry?.stop();
    // An enabled AsyncLocalStorage would slow each promise of the following files, and each world would add one.
    this.#running.disable();
    rmSync(this.root, { recursive: true });
  }
}
