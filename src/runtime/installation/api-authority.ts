/**
 * The file with the certificate of the cluster's authority, for programs that call the API over TLS (DROVER_API_CA).
 * Every user may read it: it holds no secret, and instances may run as other users.
 */
import { chmod, readFile } from 'node:fs/promises';
import { replaceFile } from '../../files/replace-file.js';

const MODE = 0o644;

export class ApiAuthorityFile {
  readonly path: string;
  #kept: string | undefined;
  #writing: Promise<void> = Promise.resolve();

  /** `path`: the absolute path of the file. */
  constructor(path: string) {
    this.path = path;
  }

  /** Resolves when the file holds this PEM. Calls may repeat and overlap. Throws the system's error. */
  keep(pem: string): Promise<void> {
    this.#writing = this.#writing.catch(() => undefined).then(() => this.#write(pem));
    return this.#writing;
  }

  async #write(pem: string): Promise<void> {
    if (this.#kept === pem) return;
    const present = await readFile(this.path, 'utf8').catch(() => undefined);
    if (present !== pem) await replaceFile(this.path, pem);
    await chmod(this.path, MODE);
    this.#kept = pem;
  }
}
