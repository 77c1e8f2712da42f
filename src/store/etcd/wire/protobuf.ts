/** Protobuf's wire format, as far as etcd's messages use it: varints and fields with a length. */

const VARINT = 0;
const LENGTH = 2;
const FIXED_64 = 1;
const FIXED_32 = 5;

/** A field to write. A number is whole, from 0 to 2^53. A field whose value is undefined is left out. */
type Field = readonly [number: number, value: number | boolean | string | Uint8Array | undefined];

/** The bytes of a message. The value of a field may be the bytes of another message. */
export function encodeFields(...fields: readonly Field[]): Buffer {
  return Buffer.concat(
    fields.flatMap(([number, value]) => {
      if (value === undefined) return [];
      if (typeof value === 'number' || typeof value === 'boolean')
        return [varint(number * 8 + VARINT), varint(Number(value))];
      const bytes = typeof value === 'string' ? Buffer.from(value) : value;
      return [varint(number * 8 + LENGTH), varint(bytes.length), bytes];
    }),
  );
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) + 0x80);
  return Buffer.from([...bytes, rest]);
}

/** The fields of a received message. A missing number is 0; missing bytes are empty. */
export class Message {
  readonly #message: Buffer;
  readonly #numbers = new Map<number, number>();
  readonly #bytes: (readonly [field: number, bytes: Buffer])[] = [];
  #at = 0;

  /** Throws a RangeError when the message is cut off. */
  constructor(message: Buffer) {
    this.#message = message;
    while (this.#at < message.length) {
      const tag = this.#varint();
      const field = tag >>> 3;
      const type = tag & 7;
      if (type === VARINT) this.#numbers.set(field, this.#varint());
      else if (type === LENGTH) this.#bytes.push([field, this.#take(this.#varint())]);
      else if (type === FIXED_64) this.#take(8);
      else if (type === FIXED_32) this.#take(4);
      else throw new RangeError(`a protobuf message has a field of type ${type}`);
    }
  }

  /** The value of a varint. Exact up to 2^53; larger values, such as ids of members, are rounded. */
  number(field: number): number {
    return this.#numbers.get(field) ?? 0;
  }

  isSet(field: number): boolean {
    return this.number(field) !== 0;
  }

  /** The bytes of a field with a length, as a view of the message. */
  bytes(field: number): Buffer {
    return this.all(field).at(-1) ?? Buffer.alloc(0);
  }

  /** The bytes of a field that may occur several times, in order. */
  all(field: number): Buffer[] {
    return this.#bytes.flatMap(([number, bytes]) => (number === field ? [bytes] : []));
  }

  #varint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 0x80) {
      const byte = this.#message[this.#at++];
      if (byte === undefined) throw new RangeError('a protobuf message is cut off');
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  }

  #take(length: number): Buffer {
    const end = this.#at + length;
    if (end > this.#message.length) throw new RangeError('a protobuf message is cut off');
    const bytes = this.#message.subarray(this.#at, end);
    this.#at = end;
    return bytes;
  }
}
