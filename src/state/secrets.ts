/**
 * The secrets of programs on the side of the master: set and removed for the API, listed without values, and opened for
 * the nodes that run their users. Values are in memory only while they are sealed or sent.
 */
import { randomBytes } from 'node:crypto';
import { DroverError, invalidRequest, messageOf } from '../model/errors.js';
import {
  type Sealing,
  type SecretRecord,
  type SecretSource,
  type ShownSecret,
  secretSourceSchema,
  secretsOf,
} from '../model/fields/secret.js';
import { programSecretKey } from '../store/keys.js';
import type { Ambient } from '../telemetry/ambient.js';
import type { MasterState } from './master-state.js';

/** The most secrets. More of them are the mistake of a script. */
const MOST_SECRETS = 1000;

interface SecretsOptions
  extends Ambient,
    Pick<MasterState, 'store' | 'programSecrets' | 'configurations' | 'instances' | 'revisions'> {
  /** The seal of the cluster's key. Throws when this master does not have the key. */
  readonly sealing: () => Promise<Sealing>;
}

export class Secrets {
  readonly #options: SecretsOptions;

  constructor(options: SecretsOptions) {
    this.#options = options;
  }

  /** Makes or changes a secret. Resolves when it is durable. `by`: who asks for it. */
  async set(name: string, source: SecretSource, by: string): Promise<void> {
    const { store, programSecrets, sealing, clock } = this.#options;
    if (programSecrets.get(name) === undefined && programSecrets.size >= MOST_SECRETS)
      throw invalidRequest(`there are ${MOST_SECRETS} secrets already, the most: remove one first`);
    const value: SecretRecord = {
      version: randomBytes(8).toString('hex'),
      sealed: (await sealing()).seal(programSecretKey(name), JSON.stringify(source)),
      source: 'value' in source ? 'value' : 'file' in source ? 'file' : 'command',
      changedAt: clock.now(),
      changedBy: by,
    };
    await programSecrets.until(await store.transact([{ do: 'put', key: programSecretKey(name), value }]));
  }

  /** Throws DRV_SECRET_UNKNOWN, and DRV_SECRET_IN_USE while a configuration refers to it. */
  async remove(name: string): Promise<void> {
    const { store, programSecrets } = this.#options;
    if (programSecrets.get(name) === undefined && !programSecrets.setAside.has(name))
      throw new DroverError('DRV_SECRET_UNKNOWN', 'there is no such secret: "secret list" shows all');
    const users = [...this.#users([name]).values()].flat();
    const text = `secret ${name} is used by ${users.join(', ')}: change these configurations first`;
    if (users.length > 0) throw new DroverError('DRV_SECRET_IN_USE', text);
    await programSecrets.until(await store.transact([{ do: 'remove', key: programSecretKey(name) }]));
  }

  list(): ShownSecret[] {
    const records = [...this.#options.programSecrets.entries()].sort(([a], [b]) => (a < b ? -1 : 1));
    const users = this.#users(records.map(([name]) => name));
    return records.map(([name, { value }]) => {
      const { source, changedAt, changedBy } = value;
      return { name, source, changedAt, changedBy, users: users.get(name) ?? [] };
    });
  }

  /** The version of each secret that instances with this content need; null: there is none. Undefined: they need none. */
  versionsFor(revision: string): Record<string, string | null> | undefined {
    const { programSecrets, revisions } = this.#options;
    const content = revisions.get(revision)?.value;
    const names = content === undefined ? [] : [...secretsOf(content)].sort();
    if (names.length === 0) return undefined;
    return Object.fromEntries(names.map((name) => [name, programSecrets.get(name)?.value.version ?? null]));
  }

  /** Opens a secret for a node. Undefined: there is none, or this master cannot open it, which it logs. */
  async open(name: string): Promise<SecretSource | undefined> {
    const sealed = this.#options.programSecrets.get(name)?.value.sealed;
    if (sealed === undefined) return undefined;
    try {
      const text = (await this.#options.sealing()).open(programSecretKey(name), sealed);
      return secretSourceSchema.parse(JSON.parse(text));
    } catch (error) {
      const cure = `or set it anew: drover secret set ${name}`;
      this.#options.logger.error(`the secret ${name} cannot be opened: ${messageOf(error)}; ${cure}`);
      return undefined;
    }
  }

  /** The ids of the instances that need the secret. */
  *instancesWith(name: string): Generator<string> {
    for (const [id, { value }] of this.#options.instances.entries())
      if (Object.hasOwn(this.versionsFor(value.revision) ?? {}, name)) yield id;
  }

  /** The configurations that refer to each of the secrets, by its name. */
  #users(names: readonly string[]): ReadonlyMap<string, string[]> {
    const users = new Map<string, string[]>(names.map((name) => [name, []]));
    for (const [user, { value }] of this.#options.configurations.entries())
      for (const secret of secretsOf(value.configuration)) users.get(secret)?.push(user);
    return users;
  }
}
