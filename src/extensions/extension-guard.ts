/**
 * Stands between Drover and the code of one extension: whatever that throws comes out as an error that may be shown,
 * without the secrets of its settings, and what nobody caught is found to be its own.
 */
import type { MaybePromise } from '../loop/maybe-promise.js';
import { DroverError, isErrorCode, messageOf } from '../model/errors.js';
import { withoutPaths } from '../model/public-message.js';
import type { Logger } from '../telemetry/logger.js';
import { isDiskError } from '../templates/tree/system-error.js';
import type { ExtensionFaults, FaultOwner } from './extension-faults.js';
import { hideSecretsIn, type SettingSecret, secretsIn } from './setting-secrets.js';

const MAX_MESSAGE_CHARS = 500;
/** What is beyond is cut before secrets are looked for; far more than is shown, so that none is cut in two. */
const MAX_HIDDEN_CHARS = 65_536;

export interface ExtensionGuardOptions {
  readonly id: string;
  /** Where its code lies; undefined: one of Drover's own, whose errors are ours. */
  readonly directory: string | undefined;
  readonly settings: unknown;
  readonly faults: ExtensionFaults;
  readonly logger: Logger;
}

export class ExtensionGuard {
  readonly #options: ExtensionGuardOptions;
  readonly #secrets: readonly SettingSecret[];
  readonly #owner: FaultOwner | undefined;
  #lastFault: string | null = null;

  constructor(options: ExtensionGuardOptions) {
    this.#options = options;
    this.#secrets = secretsIn(options.settings);
    const { directory } = options;
    if (directory !== undefined) this.#owner = { directory, report: (error) => this.report(error) };
  }

  /** The message that was reported last. */
  get lastFault(): string | null {
    return this.#lastFault;
  }

  /** An error of its own at any time: logged, and shown by `extension list`. */
  report(error: unknown): void {
    this.#lastFault = this.shown(error).message;
    this.log('error', this.#lastFault);
  }

  log(level: 'info' | 'warn' | 'error', message: string): void {
    const { id, logger } = this.#options;
    logger[level]({ extension: id }, `extension ${id}: ${this.#hide(message)}`);
  }

  /** Runs code of the extension. */
  async call<T>(work: () => MaybePromise<T>): Promise<T> {
    try {
      return await this.#run(work);
    } catch (error) {
      throw this.shown(error);
    }
  }

  /** The same for code that writes a tree: errors of the disk stay what they are, for whoever asked for the tree. */
  async callForTree<T>(work: () => MaybePromise<T>): Promise<T> {
    try {
      return await this.#run(work);
    } catch (error) {
      throw isDiskError(error) ? error : this.shown(error);
    }
  }

  /** The same for code that answers at once. */
  callNow<T>(work: () => T): T {
    try {
      return this.#run(work);
    } catch (error) {
      throw this.shown(error);
    }
  }

  /** Runs code of Drover's that the extension calls. */
  outside<T>(work: () => T): T {
    return this.#owner === undefined ? work() : this.#options.faults.runOutside(work);
  }

  /** As it may reach people and clients: in one line, without secrets, and without where things lie on this machine. */
  shown(error: unknown): Error {
    const told = this.#hide(messageOf(error).slice(0, MAX_HIDDEN_CHARS));
    const placeless = error instanceof DroverError ? told : withoutPaths(told);
    const message = placeless.replace(/\s+/g, ' ').slice(0, MAX_MESSAGE_CHARS);
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    return isErrorCode(code) ? new DroverError(code, message) : new Error(message);
  }

  #run<T>(work: () => T): T {
    return this.#owner === undefined ? work() : this.#options.faults.run(this.#owner, work);
  }

  #hide(text: string): string {
    const { directory, id } = this.#options;
    const relative = directory === undefined ? text : text.replaceAll(directory, `extensions/${id}`);
    return hideSecretsIn(relative, this.#secrets);
  }
}
