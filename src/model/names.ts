/**
 * The patterns of names and ids that become part of a path, a key or a label. A name that matches can be joined to
 * a directory without escaping it.
 */
import { randomInt } from 'node:crypto';
import { z } from 'zod';

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const INSTANCE_ID = /^[a-z0-9]{6}$/;
const ID_ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';
const ID_LENGTH = 6;

const NAME_RULE =
  'must start with a letter or digit and hold only letters, digits, ".", "_" and "-" (64 characters at most)';

/** Name of a configuration, template, template group, node or runtime. */
export const nameSchema = z.string().regex(NAME, NAME_RULE);

/** True when `id` has the form of an instance id: 6 characters of `[a-z0-9]`. Check before any use in a path. */
export function isInstanceId(id: string): boolean {
  return INSTANCE_ID.test(id);
}

export const instanceIdSchema = z
  .string()
  .regex(INSTANCE_ID, 'must be 6 characters, lower-case letters and digits');

/** A random instance id, about 31 bits; the caller checks for a collision when it creates the record. */
export function randomInstanceId(): string {
  let id = '';
  for (let index = 0; index < ID_LENGTH; index++) id += ID_ALPHABET[randomInt(ID_ALPHABET.length)];
  return id;
}
