/**
 * Attached terminals of instances, over the channel. Output is a stream: when its reader stops reading, the stream
 * stops at its window, and in the end the run's owner detaches the terminal. Input and sizes are separate calls that
 * name the stream.
 */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { DroverError, nodeDisconnected } from '../../model/errors.js';
import type { InstanceRecord } from '../../model/instance.js';
import { instanceIdSchema } from '../../model/names.js';
import { publicMessage } from '../../model/public-message.js';
import type { AttachEvent, Attachment, TerminalSize } from '../../model/run/attachment.js';
import type { CallPeer, Services } from '../protocol/calls.js';

const ATTACH = 'attach';
const ATTACH_INPUT = 'attach-input';
const ATTACH_RESIZE = 'attach-resize';

/** The first byte of a piece of the stream, which says what follows: output, or a message in JSON. */
const OUTPUT = 0;
const MESSAGE = 1;

const sizeSchema = z.object({ columns: z.int().min(1).max(0xffff), rows: z.int().min(1).max(0xffff) });
/**
 * The id of an attached terminal. The master chooses it at random, so that no other user of the channel can guess it.
 */
const terminalSchema = z.object({ terminal: z.uuid() });
const attachSchema = terminalSchema.extend({ id: instanceIdSchema, ...sizeSchema.shape });
const resizeSchema = terminalSchema.extend(sizeSchema.shape);

const messageSchema = z.discriminatedUnion('kind', [
  /** The message of the first piece. */
  z.object({ kind: z.literal('attached'), isTransparent: z.boolean() }),
  z.object({ kind: z.literal('refused'), message: z.string() }),
  z.object({
    kind: z.literal('ended'),
    reason: z.enum(['exited', 'left', 'too-slow', 'lost']),
    message: z.string(),
  }),
]);
type Message = z.output<typeof messageSchema>;

/** The wrapper's half. `attach` throws the errors of the instance's runtime. */
export function terminalServices(attach: (id: string, size: TerminalSize) => Promise<Attachment>): Services {
  const attached = new Map<string, Attachment>();
  return {
    [ATTACH]: async function* (parameters, { signal }) {
      const { id, terminal, columns, rows } = attachSchema.parse(parameters);
      const attachment = await attach(id, { columns, rows });
      const close = (): void => attachment.close();
      signal.addEventListener('abort', close, { once: true });
      attached.set(terminal, attachment);
      try {
        if (signal.aborted) return;
        yield encode({ kind: 'attached', isTransparent: attachment.isTransparent });
        for await (const event of attachment.events())
          yield event.kind === 'output' ? Buffer.concat([Buffer.of(OUTPUT), event.bytes]) : encode(event);
      } finally {
        attached.delete(terminal);
        signal.removeEventListener('abort', close);
        close();
      }
    },
    [ATTACH_INPUT]: async (parameters, { body }) => {
      const { terminal } = terminalSchema.parse(parameters);
      if (body !== undefined) await attached.get(terminal)?.write(body);
    },
    [ATTACH_RESIZE]: async (parameters) => {
      const { terminal, columns, rows } = resizeSchema.parse(parameters);
      attached.get(terminal)?.resize({ columns, rows });
    },
  };
}

/** The master's half. */
export class InstanceTerminals {
  readonly #callsOf: (nodeId: string) => CallPeer;

  constructor(callsOf: (nodeId: string) => CallPeer) {
    this.#callsOf = callsOf;
  }

  /**
   * Attaches to an instance where it runs; an abort of `signal` detaches. Throws DRV_INSTANCE_NOT_RUNNING,
   * DRV_INSTANCE_NOT_ATTACHABLE, DRV_NODE_DISCONNECTED and the runtime's errors.
   */
  async attach(
    { id, placement }: InstanceRecord,
    size: TerminalSize,
    signal: AbortSignal,
  ): Promise<Attachment> {
    if (placement === null)
      throw new DroverError('DRV_INSTANCE_NOT_RUNNING', `instance ${id} is not running: it has no node yet`);
    const calls = this.#callsOf(placement.nodeId);
    const terminal = randomUUID();
    const ending = new AbortController();
    const chunks = calls.stream(ATTACH, { id, terminal, ...size }, AbortSignal.any([signal, ending.signal]));
    try {
      const first = await chunks.next();
      const event = first.done === true ? undefined : decode(first.value);
      if (event?.kind !== 'attached')
        throw new DroverError('DRV_CHANNEL_CALL_FAILED', 'the node did not say that it attached');
      const { isTransparent } = event;
      return new NodeAttachment({ calls, chunks, ending, terminal, isTransparent });
    } catch (error) {
      ending.abort();
      if (!DroverError.is(error, 'DRV_CHANNEL_CLOSED')) throw error;
      const text = `node ${placement.nodeId} went away; attach again when it is back`;
      throw nodeDisconnected(text);
    }
  }
}

interface NodeAttachmentOptions {
  readonly calls: CallPeer;
  readonly chunks: AsyncGenerator<Buffer>;
  readonly ending: AbortController;
  readonly terminal: string;
  readonly isTransparent: boolean;
}

class NodeAttachment implements Attachment {
  readonly isTransparent: boolean;
  readonly #options: NodeAttachmentOptions;
  /** The newest size that was not sent to the node yet. */
  #size: TerminalSize | undefined;
  #isResizing = false;
  /** The reason why input did not reach the node, until the reader takes it. Later reasons replace it. */
  #refusal: string | undefined;
  #wake = (): void => undefined;

  constructor(options: NodeAttachmentOptions) {
    this.#options = options;
    this.isTransparent = options.isTransparent;
  }

  async *events(): AsyncGenerator<AttachEvent> {
    try {
      let next: Promise<IteratorResult<Buffer>> | undefined;
      for (;;) {
        next ??= this.#options.chunks.next();
        const chunk = await Promise.race([next, this.#refused()]);
        if (chunk === 'refused') {
          // Take the error of the chunk, which may fail before the loop awaits it again.
          next.catch(() => undefined);
          yield { kind: 'refused', message: this.#refusal ?? '' };
          this.#refusal = undefined;
          continue;
        }
        if (chunk.done === true) break;
        next = undefined;
        const event = decode(chunk.value);
        if (event.kind !== 'attached') yield event;
        if (event.kind === 'ended') return;
      }
    } catch {
      // The error only means that the connection to the node ended, or that this terminal was closed.
    } finally {
      this.close();
    }
    yield { kind: 'ended', reason: 'lost', message: 'the connection to the node of the instance ended' };
  }

  async write(bytes: Buffer): Promise<void> {
    const problem = await this.#tell(ATTACH_INPUT, {}, bytes);
    if (problem === undefined || this.#options.ending.signal.aborted) return;
    this.#refusal = `what was typed may not have arrived: ${publicMessage(problem)}`;
    this.#wake();
  }

  /**
   * Sends the size. Only one call at a time, because a client that sends sizes without end must not fill the node's
   * connection.
   */
  resize(size: TerminalSize): void {
    this.#size = size;
    if (!this.#isResizing) void this.#tellSize();
  }

  close(): void {
    this.#options.ending.abort();
  }

  async #tellSize(): Promise<void> {
    this.#isResizing = true;
    while (this.#size !== undefined) {
      const size = this.#size;
      this.#size = undefined;
      await this.#tell(ATTACH_RESIZE, size);
    }
    this.#isResizing = false;
  }

  async #refused(): Promise<'refused'> {
    if (this.#refusal === undefined)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    return 'refused';
  }

  /**
   * Calls the node, and resolves with the error, if any. When the connection ends, the terminal's stream ends too and
   * tells its reader.
   */
  #tell(service: string, parameters: object, body?: Buffer): Promise<unknown> {
    const { calls, terminal, ending } = this.#options;
    const options = { signal: ending.signal, ...(body !== undefined && { body }) };
    return calls.call(service, { terminal, ...parameters }, options).then(
      () => undefined,
      (error: unknown) => error,
    );
  }
}

function encode(message: Message): Buffer {
  return Buffer.concat([Buffer.of(MESSAGE), Buffer.from(JSON.stringify(message))]);
}

/** Reads a piece of the stream. Throws when the other side sent something else. */
function decode(chunk: Buffer): AttachEvent | Extract<Message, { kind: 'attached' }> {
  if (chunk[0] === OUTPUT) return { kind: 'output', bytes: chunk.subarray(1) };
  return messageSchema.parse(JSON.parse(chunk.toString('utf8', 1)));
}
