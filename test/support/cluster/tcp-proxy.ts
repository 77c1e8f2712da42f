/** A TCP proxy between two peers of a test: slow, deaf (bytes vanish while connections stay open), or cut off. */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { Transform, type TransformCallback } from 'node:stream';

interface TcpProxyOptions {
  readonly port: number;
  /** The speed in each direction of each connection. Default: no limit. */
  readonly bytesPerSecond?: number;
}

export class TcpProxy {
  readonly #options: TcpProxyOptions;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isDeaf = false;

  private constructor(options: TcpProxyOptions) {
    this.#options = options;
    this.#server = createServer((socket) => this.#onConnection(socket));
  }

  static async start(options: TcpProxyOptions): Promise<TcpProxy> {
    const proxy = new TcpProxy(options);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the proxy does not listen');
    return address.port;
  }

  /** From now on every byte of every connection vanishes. */
  goDeaf(): void {
    this.#isDeaf = true;
  }

  /** Lets new connections pass again. */
  hear(): void {
    this.#isDeaf = false;
  }

  /** Resets every connection. */
  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #onConnection(near: Socket): void {
    const far = connect({ port: this.#options.port, host: '127.0.0.1' });
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', (hadError) => {
        this.#sockets.delete(socket);
        // An orderly end comes through the pipe, after the bytes that are under way.
        if (hadError && !this.#isDeaf) other.destroy();
      });
      socket.pipe(this.#passage()).pipe(other);
    }
  }

  #passage(): Transform {
    const { bytesPerSecond } = this.#options;
    return new Transform({
      highWaterMark: 16 * 1024,
      transform: (chunk: Buffer, _encoding, done: TransformCallback) => {
        if (this.#isDeaf) done();
        else if (bytesPerSecond === undefined) done(null, chunk);
        else setTimeout(() => done(null, chunk), (chunk.length / bytesPerSecond) * 1000);
      },
      // While deaf, the proxy also keeps back the end of a stream.
      flush: (done: TransformCallback) => {
        if (!this.#isDeaf) done();
      },
    });
  }
}
