/** Both ends of a connection and the two pipes between them, each named for the direction in which it sends. */
import { ConnectionEnd } from './connection-end.js';
import type { ConnectionOptions, Direction, Path } from './path.js';
import { Pipe } from './pipe.js';

export class Connection {
  readonly ends: { readonly up: ConnectionEnd; readonly down: ConnectionEnd };
  readonly #options: ConnectionOptions;
  readonly #pipes: { readonly up: Pipe; readonly down: Pipe };
  readonly #onEnd: (() => void)[] = [];

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#pipes = { up: new Pipe(options, 'up'), down: new Pipe(options, 'down') };
    this.ends = {
      up: new ConnectionEnd(options.node, this.#pipes.up, options),
      down: new ConnectionEnd(options.master, this.#pipes.down, options),
    };
    this.#join('up', this.ends.up, this.ends.down);
    this.#join('down', this.ends.down, this.ends.up);
  }

  get path(): Path {
    return this.#options.path;
  }

  /** As the node knows it. */
  get isOpen(): boolean {
    return this.ends.up.isOpen;
  }

  onEnd(action: () => void): void {
    this.#onEnd.push(action);
  }

  resend(): void {
    this.#pipes.up.resend();
    this.#pipes.down.resend();
  }

  breakOff(): void {
    if (this.#options.isLocal) return;
    this.#pipes.up.breakOff();
    this.#pipes.down.breakOff();
  }

  silence(direction: Direction): void {
    if (!this.#options.isLocal) this.#pipes[direction].drop();
  }

  refresh(): void {
    const { isLocal, path, node, master, isOff } = this.#options;
    if (isLocal) return;
    const { up, down } = this.ends;
    up.hears(down.isOpen && path.cut.down === 0 && !master.isStalled && !isOff('up'));
    down.hears(up.isOpen && path.cut.up === 0 && !node.isStalled && !isOff('down'));
  }

  #join(direction: Direction, from: ConnectionEnd, to: ConnectionEnd): void {
    const pipe = this.#pipes[direction];
    const back = this.#pipes[direction === 'up' ? 'down' : 'up'];
    pipe.onPacket((packet) => {
      if (to.take(packet)) return;
      // Nobody has this connection any more: a machine that runs says so.
      if (!this.#options.isOff(direction)) back.endWith('connection reset', false);
    });
    from.onGone(() => {
      this.refresh();
      if (!to.isOpen) for (const action of this.#onEnd) action();
    });
  }
}
