/**
 * A registry of one image with one layer, which it can hold back half-way. Pulls are real, and take as long as a test
 * wants.
 */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';

const MANIFEST = 'application/vnd.docker.distribution.manifest.v2+json';
const UNKNOWN = JSON.stringify({ errors: [{ code: 'NAME_UNKNOWN', message: 'no such repository' }] });
const LAYER_BYTES = 4_000_000;

interface Blob {
  readonly digest: string;
  readonly bytes: Buffer;
}

export class FakeRegistry {
  readonly #server = createServer((request, response) => this.#answer(request.url ?? '', response));
  readonly #layer: Blob;
  readonly #config: Blob;
  readonly #manifest: Blob;
  readonly #held: (() => void)[] = [];
  /** True: the second half of the layer waits for `release`. */
  isHolding = false;

  private constructor(tar: Buffer) {
    this.#layer = blob(gzipSync(tar));
    const rootfs = { type: 'layers', diff_ids: [blob(tar).digest] };
    this.#config = blob(
      Buffer.from(JSON.stringify({ architecture: 'amd64', os: 'linux', config: {}, rootfs })),
    );
    const describe = ({ digest, bytes }: Blob, kind: string) => ({
      mediaType: `application/vnd.docker.${kind}`,
      size: bytes.length,
      digest,
    });
    const manifest = {
      schemaVersion: 2,
      mediaType: MANIFEST,
      config: describe(this.#config, 'container.image.v1+json'),
      layers: [describe(this.#layer, 'image.rootfs.diff.tar.gzip')],
    };
    this.#manifest = blob(Buffer.from(JSON.stringify(manifest)));
  }

  static async start(): Promise<FakeRegistry> {
    const archive = pack();
    archive.entry({ name: 'world.bin' }, randomBytes(LAYER_BYTES));
    archive.finalize();
    const registry = new FakeRegistry(await buffer(archive));
    registry.#server.listen(0, '127.0.0.1');
    await once(registry.#server, 'listening');
    return registry;
  }

  /** The image's name for an engine. Engines speak plain HTTP with 127.0.0.1. */
  get image(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}/games/world:1`;
  }

  release(): void {
    this.isHolding = false;
    for (const send of this.#held.splice(0)) send();
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #answer(url: string, response: ServerResponse): void {
    if (url === '/v2/') response.end('{}');
    else if (!url.startsWith('/v2/games/world/'))
      response.writeHead(404, { 'Content-Type': 'application/json' }).end(UNKNOWN);
    else if (url.includes('/manifests/')) this.#send(this.#manifest, response, MANIFEST);
    else if (url.endsWith(this.#config.digest)) this.#send(this.#config, response);
    else if (url.endsWith(this.#layer.digest)) this.#sendLayer(response);
    else response.writeHead(404).end();
  }

  #send({ digest, bytes }: Blob, response: ServerResponse, type = 'application/octet-stream'): void {
    response.writeHead(200, headers(digest, bytes, type)).end(bytes);
  }

  #sendLayer(response: ServerResponse): void {
    const { digest, bytes } = this.#layer;
    response.writeHead(200, headers(digest, bytes, 'application/octet-stream'));
    const half = bytes.length / 2;
    response.write(bytes.subarray(0, half));
    const sendRest = (): void => void response.end(bytes.subarray(half));
    if (this.isHolding) this.#held.push(sendRest);
    else sendRest();
  }
}

function headers(digest: string, bytes: Buffer, type: string): Record<string, string | number> {
  return { 'Content-Type': type, 'Content-Length': bytes.length, 'Docker-Content-Digest': digest };
}

function blob(bytes: Buffer): Blob {
  return { digest: `sha256:${createHash('sha256').update(bytes).digest('hex')}`, bytes };
}
