/** A TCP proxy before one etcd member, which a test makes faulty: it cuts, delays or swallows. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/**
 * The faults:
 *
 * - `cut`: every connection ends after so many bytes of answers.
 * - `hole`: connections stay open, but nothing comes through.
 * - `slow`: every piece waits.
 * - `no-answers`: requests arrive, answers do not.
 */
type Fault =
  | { readonly kind: 'none' | 'hole' | 'no-answers' }
  | { readonly kind: 'cut'; readonly afterBytes: () => number }
  | { readonly kind: 'slow'; readonly ms: number };

export class FaultProxy {
  readonly #server: Server;
  readonly #target: URL;
  readonly #sockets = new Set<Socket>();
  #fault: Fault = { kind: 'none' };
  /** How many connections a `cut` has ended. */
  cuts = 0;
  /** How many connections were made. */
  connections = 0;

  private constructor(endpoint: string) {
    this.#target = new URL(endpoint);
    this.#server = createServer((client) => this.#pass(client));
  }

  static async start(endpoint: string): Promise<FaultProxy> {
    const proxy = new FaultProxy(endpoint);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get endpoint(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `${this.#target.protocol}//127.0.0.1:${port}`;
  }

  /** Takes effect on further bytes of open connections too; `cut` affects only new connections. */
  set fault(fault: Fault) {
    this.#fault = fault;
  }

  /** Ends every connection now. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.cut();
    await once(this.#server, 'close');
  }

  #pass(client: Socket): void {
    this.connections++;
    const member = connect(Number(this.#target.port), this.#target.hostname);
    let left = this.#fault.kind === 'cut' ? this.#fault.afterBytes() : Number.POSITIVE_INFINITY;
    const end = (): void => {
      client.destroy();
      member.destroy();
    };
    for (const socket of [client, member]) {
      this.#sockets.add(socket);
      socket.on('error', end);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        end();
      });
    }
    client.on('data', (bytes: Buffer) => this.#forward(member, bytes, this.#fault.kind === 'hole'));
    member.on('data', (bytes: Buffer) => {
      if (bytes.length < left) {
        left -= bytes.length;
        this.#forward(client, bytes, this.#fault.kind === 'hole' || this.#fault.kind === 'no-answers');
        return;
      }
      this.cuts++;
      client.write(bytes.subarray(0, left), end);
      left = 0;
    });
  }

  #forward(to: Socket, bytes: Buffer, isSwallowed: boolean): void {
    if (isSwallowed) return;
    if (this.#fault.kind === 'slow') setTimeout(() => to.write(bytes), this.#fault.ms);
    else to.write(bytes);
  }
}
