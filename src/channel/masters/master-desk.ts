/**
 * Answers the questions of the other masters of the cluster, on connections that the cluster port has checked: only
 * masters have the certificate for them. Questions of clients go through the API instead.
 */
import { CallPeer } from '../protocol/calls.js';
import type { Transport } from '../protocol/transport.js';

/** Answers a question of the master `from`, as a `Service` of the channel does: with a JSON value, or with bytes. */
type Answer = (question: unknown, from: string) => Promise<unknown> | AsyncIterable<Buffer>;

export class MasterDesk {
  readonly #answers = new Map<string, Answer>();
  readonly #connections = new Set<Transport>();

  /** Answers the questions of this name with `answer`, on connections that come from now on. */
  on(name: string, answer: Answer): void {
    this.#answers.set(name, answer);
  }

  /** Takes a connection of the master `from`. */
  take(connection: Transport, from: string): void {
    const calls = new CallPeer(
      connection,
      Object.fromEntries(
        [...this.#answers].map(([name, answer]) => [name, (question: unknown) => answer(question, from)]),
      ),
    );
    this.#connections.add(connection);
    connection.onFrame((frame) => {
      if (!calls.handle(frame)) connection.close(`unexpected message ${frame.message.type}`);
    });
    connection.onClose((reason) => {
      calls.close(reason);
      this.#connections.delete(connection);
    });
  }

  /** Ends all connections. Idempotent. */
  stop(): void {
    for (const connection of this.#connections) connection.close('the master stops');
  }
}
