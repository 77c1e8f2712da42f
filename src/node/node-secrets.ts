/**
 * The secrets that the master sent to this node, sealed on its disk under a key of its own, and the values that its
 * instances were last started with. So the node starts them again without its master.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { z } from 'zod';
import { type Assignment, type SentSecrets, sentSecretSchema } from '../channel/protocol/messages.js';
import {
  clusterKeyText,
  generateClusterKey,
  readClusterKey,
  sealingWith,
} from '../channel/trust/cluster-key.js';
import { fileReason } from '../configuration-files/file-reason.js';
import { readRegular } from '../files/read-regular.js';
import { DroverError } from '../model/errors.js';
import { MOST_SECRET_BYTES, type Sealing, type SecretSource, secretText } from '../model/fields/secret.js';
import { fieldOf } from '../model/json-object.js';
import { attempt } from '../model/plain/attempt.js';
import type { SecretTextFile } from './secret-files.js';
import type { WriteBehind } from './write-behind.js';

const SENT = 'secrets/';
const USED = 'used-secrets/';
const COMMAND_MS = 30_000;
/** A value of one line may have a line end behind it. */
const MOST_BYTES = MOST_SECRET_BYTES + 2;

const usedSchema = z.record(z.string(), z.string());
/** The values of an instance by the name of their secret. */
export type SecretValues = ReadonlyMap<string, string>;

export class NodeSecrets {
  readonly #disk: WriteBehind;
  readonly #sealing: Sealing;
  readonly #sent = new Map<string, SentSecrets[string]>();
  readonly #used = new Map<string, SecretValues>();

  /** `sealing` absent: a key that lasts as long as this daemon. */
  constructor(disk: WriteBehind, sealing: Sealing = sealingWith(generateClusterKey())) {
    this.#disk = disk;
    this.#sealing = sealing;
  }

  /** Reads what an earlier daemon kept. A secret that cannot be opened is left out, and the master sends it again. */
  async load(): Promise<void> {
    for (const [name, sent] of await this.#load(SENT, sentSecretSchema)) this.#sent.set(name, sent);
    for (const [id, values] of await this.#load(USED, usedSchema))
      this.#used.set(id, new Map(Object.entries(values)));
  }

  take(secrets: SentSecrets = {}): void {
    for (const [name, sent] of Object.entries(secrets)) {
      this.#sent.set(name, sent);
      this.#keep(SENT + name, sent);
    }
  }

  /** Forgets the secrets that none of these assignments names, and the values of instances that need none. */
  collect(assignments: Iterable<Assignment>): void {
    if (this.#sent.size + this.#used.size === 0) return;
    const users = [...assignments].filter(({ secrets }) => secrets !== undefined);
    this.#keepOnly(SENT, this.#sent, new Set(users.flatMap(({ secrets = {} }) => Object.keys(secrets))));
    this.#keepOnly(USED, this.#used, new Set(users.map(({ id }) => id)));
  }

  /** Why the instance cannot be started for want of secrets, one text each. */
  lacking({ secrets = {} }: Assignment): string[] {
    return Object.entries(secrets).flatMap(([name, version]) => {
      if (version === null) return `there is no secret ${name}: "drover secret set ${name}" makes it`;
      const isHere = this.#sent.get(name)?.version === version;
      return isHere ? [] : `the master has not sent the secret ${name}, or cannot open it: its log says why`;
    });
  }

  /** Reads the values for the next start. Throws DRV_SECRET_MISSING, which shows nothing of a value. */
  async renew({ id, secrets = {} }: Assignment, signal: AbortSignal): Promise<void> {
    const values: Record<string, string> = {};
    for (const name of Object.keys(secrets)) {
      const source = this.#sent.get(name)?.source;
      if (source !== undefined) values[name] = await readSource(name, source, signal);
    }
    this.#used.set(id, new Map(Object.entries(values)));
    this.#keep(USED + id, values);
  }

  /** The values of the last `renew`; undefined: the instance has none. */
  used(id: string): SecretValues | undefined {
    return this.#used.get(id);
  }

  #keepOnly(prefix: string, known: Map<string, unknown>, named: ReadonlySet<string>): void {
    for (const name of [...known.keys()].filter((one) => !named.has(one))) {
      known.delete(name);
      this.#disk.put(prefix + name, undefined);
    }
  }

  #keep(key: string, value: object): void {
    this.#disk.put(key, this.#sealing.seal(key, JSON.stringify(value)));
  }

  async #load<T>(prefix: string, schema: z.ZodType<T>): Promise<[id: string, value: T][]> {
    const { readable } = await this.#disk.load(prefix, z.string());
    return [...readable].flatMap(([id, sealed]) => {
      const value = attempt(() => schema.parse(JSON.parse(this.#sealing.open(prefix + id, sealed))));
      return value === undefined ? [] : [[id, value]];
    });
  }
}

/** The seal of this node's key in `file`. Where there is no good key it is made anew: the master sends its secrets again. */
export async function ownSealing(file: Pick<SecretTextFile, 'read' | 'write'>): Promise<Sealing> {
  const known = readClusterKey((await file.read()) ?? '');
  const key = known ?? generateClusterKey();
  if (known === undefined) await file.write(clusterKeyText(key));
  return sealingWith(key);
}

async function readSource(name: string, source: SecretSource, signal: AbortSignal): Promise<string> {
  if ('value' in source) return source.value;
  const from = 'file' in source ? source.file : source.command[0];
  try {
    if ('command' in source) return secretText(await outputOf(source.command, signal));
    return secretText((await readRegular(source.file, MOST_BYTES)).toString());
  } catch (error) {
    signal.throwIfAborted();
    const text = `the secret ${name} cannot be had on this node: ${from}: ${fileReason(error)}`;
    throw new DroverError('DRV_SECRET_MISSING', text);
  }
}

/** The output of a program. The error says how it ended, and nothing of its arguments and what it printed. */
async function outputOf([file = '', ...words]: readonly string[], signal: AbortSignal): Promise<string> {
  const options = { timeout: COMMAND_MS, killSignal: 'SIGKILL', maxBuffer: MOST_BYTES, signal } as const;
  try {
    return (await promisify(execFile)(file, words, options)).stdout;
  } catch (error) {
    const how =
      fieldOf(error, 'killed') === true ? `no end within ${COMMAND_MS / 1000} s` : fieldOf(error, 'code');
    throw new Error(`it failed (${how})`);
  }
}
