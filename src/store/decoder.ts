/**
 * Decodes stored JSON into typed values, for mirrors. When a value replaces another one under the same key, only the fields
 * that differ are checked, because most changes of a large record touch a few fields.
 */
import { z } from 'zod';

/** True when the schema would return `next` unchanged. `known` is a value that the schema returned before. */
type Check = (next: unknown, known: unknown) => boolean;

/**
 * Returns the function that decodes by `schema` and throws the schema's errors. `known` is a value that the function
 * returned before. The answer may be the stored value itself. No field of the schema may transform its value.
 */
export function decoderOf<T>(schema: z.ZodType<T>): (value: unknown, known?: T) => T {
  const check = checkOf(schema);
  const stays = (value: unknown, known: T | undefined): value is T =>
    known !== undefined && check(value, known);
  return (value, known) => (stays(value, known) ? value : schema.parse(value));
}

function checkOf(schema: unknown): Check {
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional) return checkOf(schema.unwrap());
  if (!(schema instanceof z.ZodObject)) return () => false;
  // An object whose fields are checked together is parsed as a whole.
  const isPlain = (schema.def.checks ?? []).length === 0;
  return isPlain ? objectCheck(schema) : () => false;
}

function objectCheck({ shape }: z.ZodObject): Check {
  const fields = Object.entries(shape).map(([name, field]) => ({ name, field, check: checkOf(field) }));
  const names = new Set(Object.keys(shape));
  return (next, known) => {
    if (!isRecord(next) || !isRecord(known)) return false;
    // The schema would drop a field that it does not know.
    for (const name of Object.keys(next)) if (!names.has(name)) return false;
    return fields.every(({ name, field, check }) => {
      const value = next[name];
      if (value === known[name] || check(value, known[name])) return true;
      const parsed = field.safeParse(value);
      return parsed.success && parsed.data === value;
    });
  };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return value !== null && typeof value === 'object';
}
