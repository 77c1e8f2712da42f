/**
 * Stands between Drover and the code of an extension. Errors of that code come out without the secrets of its settings,
 * so that they may be shown. Uncaught errors are traced back to the extension.
 */
import type { MaybePromise } from '../loop/maybe-promise.js';
import { DroverError, isErrorCode, messageOf } from '../model/errors.js';
import { withoutPaths } from '../model/public-message.js';
import type { Logger } from '../telemetry/logger.js';
import { type ExtensionFaults, type FaultOwner, readable } from './extension-faults.js';
import { hideSecretsIn, type SettingSecret, secretsIn } from './setting-secrets.js';

const MAX_MESSAGE_CHARS = 500;
/**
 * The length to which a message is cut before secrets are looked for. It is far above the shown length, so that no
 * shown secret is cut in two.
 */
const MAX_HIDDEN_CHARS = 65_536;

interface ExtensionGuardOptions {
  readonly id: string;
  /** The directory of the extension's code; undefined for a built-in extension, whose errors are Drover's. */
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

  /** The message of the last reported error. */
  get lastFault(): string | null {
    return this.#lastFault;
  }

  /** Reports an error of the extension, whenever it occurs: it is logged, and `extension list` shows it. */
  report(error: unknown): void {
    this.#lastFault = this.shown(error).message;
    this.log('error', this.#lastFault);
  }

  log(level: 'info' | 'warn' | 'error', message: string): void {
    const { id, logger } = this.#options;
    logger[level]({ extension: id }, `extension ${id}: ${this.#hide(message)}`);
  }

  /**
   * Runs code of the extension; an error is thrown as `shown` makes it. Errors for which `isOwn` is true pass unchanged.
   */
  async call<T>(work: () => MaybePromise<T>, isOwn: (error: unknown) => boolean = () => false): Promise<T> {
    try {
      return await this.#run(work);
    } catch (thrown) {
      const error = readable(thrown);
      throw isOwn(error) ? error : this.shown(error);
    }
  }

  /** Like `call`, for code that returns no promise. */
  callNow<T>(work: () => T): T {
    try {
      return this.#run(work);
    } catch (error) {
      throw this.shown(error);
    }
  }

  /** Runs code of Drover that the extension calls. */
  outside<T>(work: () => T): T {
    return this.#owner === undefined ? work() : this.#options.faults.runOutside(work);
  }

  /** The error in the form for people and clients: one line, without secrets and without paths of this machine. */
  shown(thrown: unknown): Error {
    const error = readable(thrown);
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
