/** A real S3 server (s3rver) as a child process on a free port, with one bucket in a temporary directory. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { DeleteObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { eachBounded } from '../../../src/loop/each-bounded.js';
import { forever, temporaryDirectory } from './template-trees.js';

const PROGRAM = join(dirname(createRequire(import.meta.url).resolve('s3rver/package.json')), 'bin/s3rver.js');
const PARALLEL_PUTS = 16;
export const BUCKET = 'templates';
/** The only pair of keys that s3rver knows. */
export const S3_KEYS = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };

export class S3Server {
  readonly #directory = temporaryDirectory();
  #child: ChildProcess | undefined;
  #client: S3Client | undefined;
  port = 0;

  get endpoint(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** The settings of a storage in its bucket. */
  get settings() {
    return { endpoint: this.endpoint, region: 'us-east-1', bucket: BUCKET, forcePathStyle: true, ...S3_KEYS };
  }

  /** Starts the server on its former port, or on a free port at first. */
  async start(): Promise<void> {
    const child = spawn(
      process.execPath,
      [
        // The server numbers the pages of listings with a cipher that OpenSSL 3 calls legacy.
        '--openssl-legacy-provider',
        PROGRAM,
        ...['--directory', this.#directory, '--address', '127.0.0.1', '--port', String(this.port)],
        ...['--no-vhost-buckets', '--configure-bucket', BUCKET],
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    this.#child = child;
    for await (const line of createInterface(child.stdout)) {
      const port = /listening on [\d.]+:(\d+)/.exec(line)?.[1];
      if (port === undefined) continue;
      this.port = Number(port);
      break;
    }
    if (this.port === 0) throw new Error('s3rver did not start');
    child.stdout.resume();
    this.#client = new S3Client({
      endpoint: this.endpoint,
      region: 'us-east-1',
      forcePathStyle: true,
      // A copy, because the SDK writes into the object.
      credentials: { ...S3_KEYS },
    });
  }

  async put(objects: Readonly<Record<string, string | Buffer>>): Promise<void> {
    await eachBounded(Object.entries(objects), PARALLEL_PUTS, forever, async ([Key, content]) => {
      const Body = Buffer.from(content);
      await this.#client?.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body }));
    });
  }

  async remove(Key: string): Promise<void> {
    await this.#client?.send(new DeleteObjectCommand({ Bucket: BUCKET, Key }));
  }

  /** Ends the process; the objects stay. */
  async halt(): Promise<void> {
    this.#client?.destroy();
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  async stop(): Promise<void> {
    await this.halt();
    rmSync(this.#directory, { recursive: true });
  }
}
