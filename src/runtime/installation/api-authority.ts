/**
 * The file with the certificate of the cluster's authority, for programs that call the API over TLS (DROVER_API_CA).
 * Every user may read it: it holds no secret, and instances may run as other users.
 */
import { chmod, readFile } from 'node:fs/promises';
import { replaceFile } from '../../files/replace-file.js';

const MODE = 0o644;

/**
 * Returns the function that keeps a PEM in the file at the absolute `path`. It resolves when the file holds the PEM.
 * Calls may repeat and overlap. It throws the system's error.
 */
export function authorityFile(path: string): (pem: string) => Promise<void> {
  let kept: string | undefined;
  let writing = Promise.resolve();
  const write = async (pem: string): Promise<void> => {
    if (kept === pem) return;
    const present = await readFile(path, 'utf8').catch(() => undefined);
    if (present !== pem) await replaceFile(path, pem);
    await chmod(path, MODE);
    kept = pem;
  };
  return (pem) => {
    writing = writing.catch(() => undefined).then(() => write(pem));
    return writing;
  };
}
