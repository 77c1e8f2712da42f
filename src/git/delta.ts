/** Applies a delta of a git pack: pieces of a base, and bytes of its own. */

/** Undefined: the delta is not one for this base, or would make more than `most` bytes. */
export function applyDelta(base: Buffer, delta: Buffer, most: number): Buffer | undefined {
  const from = sizeAt(delta, 0);
  const to = from && sizeAt(delta, from.next);
  if (to === undefined || from?.value !== base.length || to.value > most) return undefined;
  const result = Buffer.alloc(to.value);
  let filled = 0;
  for (let at = to.next; at < delta.length; ) {
    const piece = pieceAt(base, delta, at);
    // `copy` cuts off what does not fit.
    if (piece === undefined || filled + piece.bytes.length > result.length) return undefined;
    filled += piece.bytes.copy(result, filled);
    at = piece.next;
  }
  return filled === result.length ? result : undefined;
}

interface Piece {
  readonly bytes: Buffer;
  readonly next: number;
}

function pieceAt(base: Buffer, delta: Buffer, at: number): Piece | undefined {
  const code = delta.readUInt8(at);
  if (code === 0) return undefined;
  if ((code & 0x80) !== 0) return copied(base, delta, at);
  const bytes = delta.subarray(at + 1, at + 1 + code);
  return bytes.length === code ? { bytes, next: at + 1 + code } : undefined;
}

/** The bits of the code say which bytes of the offset (4) and of the length (3) follow; those that do not are 0. */
function copied(base: Buffer, delta: Buffer, at: number): Piece | undefined {
  const code = delta.readUInt8(at);
  const numbers = [0, 0];
  let next = at + 1;
  for (let bit = 0; bit < 7; bit++) {
    if ((code & (1 << bit)) === 0) continue;
    const byte = delta.at(next++);
    if (byte === undefined) return undefined;
    const [which, place] = bit < 4 ? [0, bit] : [1, bit - 4];
    numbers[which] = (numbers[which] ?? 0) + byte * 256 ** place;
  }
  const [offset = 0, length = 0] = numbers;
  const end = offset + (length === 0 ? 0x10000 : length);
  return end <= base.length ? { bytes: base.subarray(offset, end), next } : undefined;
}

function sizeAt(bytes: Buffer, at: number): { readonly value: number; readonly next: number } | undefined {
  let value = 0;
  let factor = 1;
  for (let next = at; next < bytes.length; factor *= 128) {
    const byte = bytes.readUInt8(next++);
    value += (byte & 0x7f) * factor;
    if (value > Number.MAX_SAFE_INTEGER / 256) return undefined;
    if ((byte & 0x80) === 0) return { value, next };
  }
  return undefined;
}
