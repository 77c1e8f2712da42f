/** Keeps the secret behind the instances' own tokens: made once per cluster, never shown. */
import { randomBytes } from 'node:crypto';
import { DroverError } from '../model/errors.js';

const SECRET_BYTES = 32;

/** Where the secret is kept, as hexadecimal text: a file of the master, or the store that masters share. */
interface TokenSecretFile {
  /** For messages. */
  readonly name: string;
  /** Undefined: it was never made. */
  read(): Promise<string | undefined>;
  write(hex: string): Promise<void>;
}

/** Reads the secret, or makes it. Throws DRV_NODE_ROOT_UNUSABLE when it has another length. */
export async function ensureTokenSecret(file: TokenSecretFile): Promise<Buffer> {
  const hex = await file.read();
  if (hex === undefined) {
    const secret = randomBytes(SECRET_BYTES);
    await file.write(secret.toString('hex'));
    return secret;
  }
  const secret = Buffer.from(hex, 'hex');
  if (secret.length === SECRET_BYTES) return secret;
  throw new DroverError(
    'DRV_NODE_ROOT_UNUSABLE',
    `${file.name} must hold ${SECRET_BYTES} bytes and holds ${secret.length}: delete it, and restart the instances, which then get new tokens`,
  );
}
