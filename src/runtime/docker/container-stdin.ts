/** Standard input of one container: a connection to its engine, opened at the first write and kept while it runs. */
import type { Duplex } from 'node:stream';
import { DroverError } from '../../model/errors.js';
import { unavailable } from '../failures.js';
import type { Engine } from './engine/engine.js';

/** Beyond what kernel and engine buffer: a program that does not read must not fill our memory. */
const MOST_WAITING_BYTES = 64 * 1024;

export class ContainerStdin {
  readonly #engine: Pick<Engine, 'attach'>;
  readonly #containerId: string;
  readonly #signal: AbortSignal;
  #connection: Promise<Duplex> | undefined;

  /** `signal` closes the connection. */
  constructor(engine: Pick<Engine, 'attach'>, containerId: string, signal: AbortSignal) {
    this.#engine = engine;
    this.#containerId = containerId;
    this.#signal = signal;
  }

  /**
   * Writes in the order of the calls. Resolves when the bytes are on their way. Throws DRV_STDIN_FULL, or the error
   * of attaching.
   */
  async write(bytes: Buffer): Promise<void> {
    const connection = await this.#connect();
    if (connection.destroyed || !connection.writable)
      throw unavailable('the container engine closed the way to standard input; try again');
    if (connection.writableLength > MOST_WAITING_BYTES)
      throw new DroverError(
        'DRV_STDIN_FULL',
        'the process does not read its standard input, and no more of it is kept',
      );
    connection.write(bytes);
  }

  #connect(): Promise<Duplex> {
    this.#connection ??= this.#open();
    return this.#connection;
  }

  async #open(): Promise<Duplex> {
    const forget = (): void => {
      this.#connection = undefined;
    };
    try {
      const connection = await this.#engine.attach(this.#containerId, this.#signal);
      connection.on('error', forget).on('close', forget);
      // The engine sends the output here too; it is in the log already.
      connection.resume();
      this.#signal.addEventListener('abort', () => connection.destroy(), { once: true });
      return connection;
    } catch (error) {
      forget();
      throw error;
    }
  }
}
