/**
 * A storage in a bucket: the objects under `<prefix>/<group>/<name>/` are the files of a template. Objects have no
 * modes, so a file that begins with `#!` becomes executable.
 */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import type { ListObjectsV2CommandOutput, S3Client } from '@aws-sdk/client-s3';
import { z } from 'zod';
import { systemCodeOf } from '../../files/system-error.js';
import { eachBounded } from '../../loop/each-bounded.js';
import { messageOf } from '../../model/errors.js';
import { objectionTo } from '../../templates/tree/path-objection.js';
import { looksLikeProgram } from '../../templates/tree/program-file.js';
import { TREE_LIMITS } from '../../templates/tree/tree.js';
import type { Extension, StorageProvider } from '../extension.js';
import { settingsReader, storagesSchema, storageUrlSchema } from './settings.js';

const CONNECT_LIMIT_MS = 5000;
/** The longest wait for an answer, and between two bytes of an answer. */
const SILENCE_LIMIT_MS = 30_000;
/** How many times the SDK tries a request, with growing delays. */
const ATTEMPTS = 3;
const PARALLEL_DOWNLOADS = 8;
/** How many times an object is fetched when its body breaks off. */
const BODY_ATTEMPTS = 3;
const CREATE = constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;

interface StoredObject {
  readonly key: string;
  readonly etag: string;
  readonly size: number;
}

/** Sentences for errors that an operator's settings cause. */
const EXPLAINED: Readonly<Record<string, string>> = {
  NoSuchBucket: 'the bucket does not exist',
  InvalidAccessKeyId: 'the accessKeyId is not known there',
  SignatureDoesNotMatch: 'the secretAccessKey is wrong',
  AccessDenied: 'access is denied',
  CredentialsProviderError: 'there are no credentials: give accessKeyId and secretAccessKey',
};

export class S3Storage implements StorageProvider {
  readonly #settings: BucketSettings;
  readonly #pageKeys: number;
  #client: Promise<Sdk> | undefined;
  #isClosed = false;

  /** `pageKeys`: how many objects a page of a listing holds. 1000 is the most that S3 gives. */
  constructor(settings: BucketSettings, pageKeys = 1000) {
    this.#settings = settings;
    this.#pageKeys = pageKeys;
  }

  async list(group: string, signal: AbortSignal): Promise<readonly string[]> {
    const prefix = this.#prefixOf(group);
    const names: string[] = [];
    for await (const { CommonPrefixes = [] } of this.#pages({ Prefix: prefix, Delimiter: '/' }, signal))
      for (const { Prefix = '' } of CommonPrefixes) names.push(Prefix.slice(prefix.length, -1));
    return names;
  }

  async version(group: string, name: string, signal: AbortSignal): Promise<string | null> {
    const objects = await this.#list(group, name, signal);
    if (objects.length === 0) return null;
    const hash = createHash('sha256');
    for (const { key, etag, size } of objects) hash.update(`${JSON.stringify([key, etag, size])}\n`);
    return hash.digest('hex');
  }

  async download(group: string, name: string, directory: string, signal: AbortSignal): Promise<void> {
    const objects = await this.#list(group, name, signal);
    const { length } = this.#prefixOf(`${group}/${name}`);
    const files = objects.map((object) => ({ object, path: object.key.slice(length) }));
    for (const { path, object } of files) {
      const objection = objectionTo(path);
      if (objection !== undefined)
        throw new Error(`object ${JSON.stringify(object.key)} is refused: its path ${objection}`);
    }
    await eachBounded(files, PARALLEL_DOWNLOADS, signal, ({ object, path }) =>
      this.#fetch(object, join(directory, path), signal),
    );
  }

  /** Closes the connections. Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#client?.then(({ client }) => client.destroy()).catch(() => undefined);
  }

  #prefixOf(path: string): string {
    const { prefix } = this.#settings;
    return `${prefix === undefined ? '' : `${prefix}/`}${path}/`;
  }

  /** All objects of a template in the order of their keys, without objects that stand for directories. */
  async #list(group: string, name: string, signal: AbortSignal): Promise<StoredObject[]> {
    const objects: StoredObject[] = [];
    for await (const { Contents = [] } of this.#pages(
      { Prefix: this.#prefixOf(`${group}/${name}`) },
      signal,
    )) {
      for (const { Key: key, ETag: etag = '', Size: size = 0 } of Contents)
        if (key !== undefined && !key.endsWith('/')) objects.push({ key, etag, size });
      if (objects.length > TREE_LIMITS.maxEntries)
        throw new Error(`it holds more than ${TREE_LIMITS.maxEntries} objects, which no template can have`);
    }
    return objects.sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  async *#pages(
    wanted: { readonly Prefix: string; readonly Delimiter?: string },
    signal: AbortSignal,
  ): AsyncGenerator<ListObjectsV2CommandOutput> {
    const { sdk, client } = await this.#connect();
    const input = { ...wanted, Bucket: this.#settings.bucket };
    const paging = { client, pageSize: this.#pageKeys };
    try {
      yield* sdk.paginateListObjectsV2(paging, input, { abortSignal: signal });
    } catch (error) {
      explain(error);
    }
  }

  async #fetch(object: StoredObject, file: string, signal: AbortSignal): Promise<void> {
    await mkdir(dirname(file), { recursive: true }).catch((error: unknown) => nameClash(error, object));
    for (let attempt = 1; ; attempt++)
      try {
        await this.#fetchOnce(object, file, signal);
        return;
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof BrokenBody)) throw error;
        if (attempt === BODY_ATTEMPTS) throw new Error(`object ${object.key}: ${error.message}`);
      }
  }

  async #fetchOnce(object: StoredObject, file: string, signal: AbortSignal): Promise<void> {
    const { sdk, client } = await this.#connect();
    // IfMatch refuses content that changed after the listing: it would belong to another version.
    const { bucket: Bucket } = this.#settings;
    const command = new sdk.GetObjectCommand({ Bucket, Key: object.key, IfMatch: object.etag });
    const { Body } = await client.send(command, { abortSignal: signal }).catch(explain);
    if (!(Body instanceof Readable)) throw new BrokenBody('it came without content');
    await writeBody(Body, file, object, signal);
  }

  #connect(): Promise<Sdk> {
    if (this.#isClosed) return Promise.reject(new Error('the node is stopping'));
    this.#client ??= connect(this.#settings);
    return this.#client;
  }
}

type SdkModule = typeof import('@aws-sdk/client-s3');
interface Sdk {
  readonly sdk: SdkModule;
  readonly client: S3Client;
}

/** Loads the SDK at the first use of the storage, because loading takes 0.4 s. */
async function connect(settings: BucketSettings): Promise<Sdk> {
  // Switch off a warning about future Node versions, on which an operator cannot act.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
  const sdk = await import('@aws-sdk/client-s3');
  const { endpoint, region, forcePathStyle, accessKeyId, secretAccessKey } = settings;
  const client = new sdk.S3Client({
    region,
    maxAttempts: ATTEMPTS,
    // Other services than Amazon's may not know the checksums that the SDK asks for by default.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: CONNECT_LIMIT_MS,
      requestTimeout: SILENCE_LIMIT_MS,
      throwOnRequestTimeout: true,
      socketTimeout: SILENCE_LIMIT_MS,
      httpAgent: { maxSockets: 2 * PARALLEL_DOWNLOADS },
      httpsAgent: { maxSockets: 2 * PARALLEL_DOWNLOADS },
    },
    ...(endpoint !== undefined && { endpoint }),
    ...(forcePathStyle !== undefined && { forcePathStyle }),
    ...(accessKeyId !== undefined &&
      secretAccessKey !== undefined && { credentials: { accessKeyId, secretAccessKey } }),
  });
  return { sdk, client };
}

/** Thrown when the connection ended, or the content is not the listed content. Another try may help. */
class BrokenBody extends Error {}

/** Writes an object to a file, executable when it looks like a program. Errors of the disk pass unchanged. */
async function writeBody(
  body: Readable,
  file: string,
  object: StoredObject,
  signal: AbortSignal,
): Promise<void> {
  const handle = await open(file, CREATE, 0o644).catch((error: unknown) => nameClash(error, object));
  try {
    let size = 0;
    for await (const chunk of chunksOf(body)) {
      signal.throwIfAborted();
      size += chunk.length;
      if (size > object.size) break;
      await handle.writeFile(chunk);
    }
    if (size !== object.size) throw new BrokenBody(`its size is not the listed ${object.size} bytes`);
    if (await looksLikeProgram(handle)) await handle.chmod(0o755);
  } finally {
    body.destroy();
    await handle.close();
  }
}

async function* chunksOf(body: Readable): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of body) yield Buffer.from(chunk);
  } catch (error) {
    throw new BrokenBody(`its content broke off: ${messageOf(error)}`);
  }
}

/** Explains the error when a key is a file and another key needs a directory of that name. */
function nameClash(error: unknown, { key }: StoredObject): never {
  const code = systemCodeOf(error);
  if (code === 'EEXIST' || code === 'ENOTDIR' || code === 'EISDIR')
    throw new Error(
      `object ${key} does not fit the others: one of them is a file where another needs a directory`,
    );
  throw error;
}

function explain(error: unknown): never {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  const explained = EXPLAINED[name];
  if (explained !== undefined) throw new Error(`${explained} (${name})`);
  if (name === 'PreconditionFailed') throw new Error('an object changed during the download');
  const code = error instanceof Error && 'code' in error ? error.code : name;
  throw new Error(message === '' || message === 'UnknownError' ? `the service answered ${code}` : message);
}

const PREFIX = /^[^/\\\0]+(\/[^/\\\0]+)*$/;

const bucketSchema = z
  .strictObject({
    endpoint: storageUrlSchema.optional(),
    region: z.string().min(1),
    bucket: z.string().min(1),
    /** The path of the objects, which lie under `<prefix>/<group>/<name>/`. */
    prefix: z.string().regex(PREFIX, 'must be a path without a slash at either end').optional(),
    accessKeyId: z.string().min(1).optional(),
    secretAccessKey: z.string().min(1).optional(),
    forcePathStyle: z.boolean().optional(),
  })
  .refine(
    ({ accessKeyId, secretAccessKey }) => (accessKeyId === undefined) === (secretAccessKey === undefined),
    { error: 'accessKeyId and secretAccessKey must be given together, or neither' },
  );

type BucketSettings = z.output<typeof bucketSchema>;

const readSettings = settingsReader(storagesSchema(bucketSchema));

export const s3Extension: Extension = {
  activate(context) {
    const { storages } = readSettings(context.settings);
    for (const [key, settings] of Object.entries(storages)) {
      const storage = new S3Storage(settings);
      context.registerStorage(key, storage);
      context.signal.addEventListener('abort', () => storage.close(), { once: true });
    }
  },
};
