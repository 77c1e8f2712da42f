/** A client of an attached terminal that remembers its output. */
import type { AttachEvent, Attachment } from '../../../src/model/run/attachment.js';

export class TerminalClient {
  readonly attachment: Attachment;
  /** The output so far. */
  seen = '';
  readonly refusals: string[] = [];
  /** Resolves with the last event. */
  readonly ended: Promise<Extract<AttachEvent, { kind: 'ended' }>>;

  /** Reads from now on. */
  constructor(attachment: Attachment) {
    this.attachment = attachment;
    this.ended = this.#read();
  }

  type(text: string): Promise<void> {
    return this.attachment.write(Buffer.from(text));
  }

  async #read(): Promise<Extract<AttachEvent, { kind: 'ended' }>> {
    for await (const event of this.attachment.events()) {
      if (event.kind === 'output') this.seen += event.bytes.toString('latin1');
      else if (event.kind === 'refused') this.refusals.push(event.message);
      else return event;
    }
    throw new Error('the terminal ended without a word');
  }
}
