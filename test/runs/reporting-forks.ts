/**
 * The worker processes of vitest. When one dies, this prints its signal or exit code, its file and its test; vitest
 * alone only says that a worker exited, after a long wait.
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
    // A worker reports its tests ten times a second, so its last report may name a short test before the deadly one.
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
