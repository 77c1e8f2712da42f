/**
 * The worker processes of vitest, with a word about one that dies: its signal or exit code, its file and its test.
 * vitest alone says that a worker exited, and waits for the end of the dead one until its time is over.
 */
import { ForksPoolWorker, type PoolOptions, type PoolWorker, type WorkerRequest } from 'vitest/node';

class ReportingFork extends ForksPoolWorker {
  override readonly name = 'reporting-forks';
  readonly #vitest: PoolOptions['project']['vitest'];
  #files: readonly string[] = [];
  #isStopping = false;
  #hasDied = false;

  constructor(options: PoolOptions) {
    super(options);
    this.#vitest = options.project.vitest;
  }

  override async start(): Promise<void> {
    await super.start();
    this.on('exit', (...[code, signal]: unknown[]) => {
      this.#hasDied = true;
      if (!this.#isStopping) this.#report(signal ?? `exit code ${code}`);
    });
  }

  override send(message: WorkerRequest): void {
    if (message.type === 'run') this.#files = message.context.files.map(({ filepath }) => filepath);
    super.send(message);
  }

  override async stop(): Promise<void> {
    this.#isStopping = true;
    if (!this.#hasDied) await super.stop();
  }

  #report(how: unknown): void {
    // A worker tells of its tests ten times a second, so its last word may be of a short test before.
    const unfinished = this.#vitest.state
      .getTestModules()
      .filter(({ moduleId }) => this.#files.includes(moduleId))
      .flatMap(({ children }) => [...children.allTests('pending')]);
    const where =
      unfinished[0] === undefined ? 'outside of its tests' : `in or after "${unfinished[0].fullName}"`;
    const error = new Error(`a worker died by ${how} in ${this.#files.join(', ')}, ${where}`);
    error.stack = '';
    this.#vitest.state.catchError(error, 'Dead worker');
  }
}

export const reportingForks = {
  name: 'reporting-forks',
  createPoolWorker: (options: PoolOptions): PoolWorker => new ReportingFork(options),
};
