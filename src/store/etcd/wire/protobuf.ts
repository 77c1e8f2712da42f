/** Protobuf's wire format, as far as etcd's messages use it: varints and fields with a length. */

const VARINT = 0;
const LENGTH = 2;
const FIXED_64 = 1;
const FIXED_32 = 5;

/** A field that was read from a message. */
interface Field {
  readonly number: number;
  /** The value of a varint. Exact up to 2^53; larger values, such as ids of members, are rounded. */
  readonly value: number;
  /** The bytes of a field with a length, as a view of the message. */
  readonly bytes: Buffer;
}

const NO_BYTES = Buffer.alloc(0);

/** Writes a message. The caller leaves out fields with default values. */
export class MessageWriter {
  #bytes = Buffer.allocUnsafe(256);
  #length = 0;

  /** Writes a whole number from 0 to 2^53, or a boolean. */
  number(field: number, value: number | boolean): this {
    this.#varint(field * 8 + VARINT);
    this.#varint(Number(value));
    return this;
  }

  bytes(field: number, value: Uint8Array): this {
    this.#varint(field * 8 + LENGTH);
    this.#varint(value.length);
    this.#reserve(value.length);
    this.#bytes.set(value, this.#length);
    this.#length += value.length;
    return this;
  }

  text(field: number, value: string): this {
    return this.bytes(field, Buffer.from(value));
  }

  message(field: number, message: MessageWriter): this {
    return this.bytes(field, message.finish());
  }

  /** The message so far, as a view that the next write may change. */
  finish(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #varint(value: number): void {
    this.#reserve(10);
    let rest = value;
    for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) this.#bytes[this.#length++] = (rest % 0x80) + 0x80;
    this.#bytes[this.#length++] = rest;
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

/** Yields the fields of a message, in order. Throws a RangeError when the message is cut off. */
export function* fieldsOf(message: Buffer): Generator<Field> {
  const reader = new Reader(message);
  while (!reader.isAtEnd) {
    const tag = reader.varint();
    const number = tag >>> 3;
    switch (tag & 7) {
      case VARINT:
        yield { number, value: reader.varint(), bytes: NO_BYTES };
        break;
      case LENGTH:
        yield { number, value: 0, bytes: reader.take(reader.varint()) };
        break;
      case FIXED_64:
        reader.take(8);
        break;
      case FIXED_32:
        reader.take(4);
        break;
      default:
        throw new RangeError(`a protobuf message has a field of type ${tag & 7}`);
    }
  }
}

class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  varint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 0x80) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) throw new RangeError('a protobuf message is cut off');
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  }

  take(length: number): Buffer {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new RangeError('a protobuf message is cut off');
    const bytes = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return bytes;
  }
}
