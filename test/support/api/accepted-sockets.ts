/** Finds the server's end of a connection. Node reports every connection that a server in this process accepts. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Socket } from 'node:net';
import { z } from 'zod';

const CHANNEL = 'net.server.socket';
const messageSchema = z.object({ socket: z.instanceof(Socket) });

export class AcceptedSockets {
  readonly #accepted: Socket[] = [];

  constructor() {
    subscribe(CHANNEL, this.#onAccepted);
  }

  /** Returns the server's end of `socket`, which must be connected. */
  of(socket: Socket): Socket {
    const found = this.#accepted.find(({ remotePort }) => remotePort === socket.localPort);
    if (found === undefined) throw new Error('no server of this process holds that connection');
    return found;
  }

  stop(): void {
    unsubscribe(CHANNEL, this.#onAccepted);
  }

  readonly #onAccepted = (message: unknown): void => {
    this.#accepted.push(messageSchema.parse(message).socket);
  };
}
