/**
 * Secrets: values that only the programs of their users get. A configuration refers to them by name, and nobody reads a
 * value back.
 */
import { z } from 'zod';
import type { Configuration } from '../configuration.js';
import { invalidRequest } from '../errors.js';
import { placeholderNames } from '../names.js';
import { LINE_WITH_END } from '../plain/line-end.js';
import { byteLengthWithin } from '../words.js';
import { workspacePathSchema } from './file-edit.js';

/** The beginning of the variables that stand for secrets: `%SECRET:db/password%`. */
export const SECRET_VARIABLE = 'SECRET:';
export const MOST_SECRET_BYTES = 32_768;
const MOST_WORDS = 64;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*(?:\/[A-Za-z0-9][A-Za-z0-9._-]*)*$/;
const NAME_RULE =
  'must be names joined by "/", such as db/password, each of letters, digits, ".", "_" and "-" and with a letter or digit first (128 characters at most)';

export const secretNameSchema = z.string().max(128, NAME_RULE).regex(NAME, NAME_RULE);

const secretValueSchema = z
  .string()
  .refine((text) => text !== '' && byteLengthWithin(text, MOST_SECRET_BYTES), {
    error: `must have 1 to ${MOST_SECRET_BYTES} bytes`,
  })
  .refine((text) => !/[\0\ufffd]/.test(text), {
    error: 'must be UTF-8 text without NUL: encode other values, for example with base64',
  });

const ABSOLUTE = /^\/[^\0]+$/;
const fileSchema = z.string().max(1024).regex(ABSOLUTE, 'must be an absolute path on the node');
const commandSchema = z.array(z.string().min(1).max(4096)).min(1).max(MOST_WORDS);

/** Where the value comes from: kept by Drover, or had on the node. */
export const secretSourceSchema = z.union([
  z.strictObject({ value: secretValueSchema.describe('the value, which Drover keeps sealed') }),
  z.strictObject({ file: fileSchema.describe('a file on the node that runs the program') }),
  z.strictObject({ command: commandSchema.describe('what the node runs before a start; prints the value') }),
]);
export type SecretSource = Readonly<z.output<typeof secretSourceSchema>>;

export const secretRecordSchema = z.object({
  /** Another text with every change. */
  version: z.string(),
  /** The `SecretSource`, sealed under the cluster's key. */
  sealed: z.string(),
  source: z.enum(['value', 'file', 'command']).describe('value: kept by Drover; else had on nodes'),
  changedAt: z.number().describe('when it was set, Unix milliseconds'),
  changedBy: z.string().describe('who set it, as in the audit trail'),
});
export type SecretRecord = Readonly<z.output<typeof secretRecordSchema>>;

export const shownSecretSchema = secretRecordSchema.omit({ version: true, sealed: true }).extend({
  name: z.string(),
  users: z.array(z.string()).describe('the configurations that refer to it'),
});
export type ShownSecret = z.output<typeof shownSecretSchema>;

const MODE = /^0?[0-7]{3}$/;

/** The field `secretFiles`: files of the working directory that each hold the value of a secret. */
const secretFileSchema = z.strictObject({
  secret: secretNameSchema.describe('the name of the secret'),
  path: workspacePathSchema,
  mode: z.string().regex(MODE, 'must be a mode in octal digits, such as "0400"').default('0400'),
});
export type SecretFile = Readonly<z.output<typeof secretFileSchema>>;
export const secretFilesSchema = z.array(secretFileSchema).max(64);

/** Seals texts under a key. `name` is part of the seal. */
export interface Sealing {
  seal(name: string, text: string): string;
  /** Throws when another key sealed it, or when it was changed. */
  open(name: string, sealed: string): string;
}

/** The names of the secrets in a text, in order. */
export function secretsIn(text: string): string[] {
  const names = text.includes(SECRET_VARIABLE) ? placeholderNames(text) : [];
  return names.flatMap((name) =>
    name.startsWith(SECRET_VARIABLE) ? name.slice(SECRET_VARIABLE.length) : [],
  );
}

type Using = Pick<Configuration, 'environmentVariables' | 'fileEdits' | 'secretFiles'>;

/** The references of a content to secrets: the name, and the field that has it. */
function* secretReferences(content: Using): Generator<{ readonly secret: string; readonly field: string }> {
  for (const field of ['environmentVariables', 'fileEdits'] as const)
    for (const secret of secretsIn(JSON.stringify(content[field] ?? ''))) yield { secret, field };
  for (const { secret } of content.secretFiles ?? []) yield { secret, field: 'secretFiles' };
}

/** The names of all secrets that a content refers to. */
export function secretsOf(content: Using): ReadonlySet<string> {
  return new Set([...secretReferences(content)].map(({ secret }) => secret));
}

/** Warnings of references to secrets that are not there (yet). */
export function unknownSecrets(content: Configuration, isKnown: (name: string) => boolean) {
  return [...secretReferences(content)].flatMap(({ secret, field }) => {
    const message = `there is no secret "${secret}": no instance starts before "drover secret set ${secret}"`;
    return isKnown(secret) ? [] : [{ configurationName: content.name, field, message }];
  });
}

/**
 * The value in the text of a file or of an output. The line end of a value of one line is no part of it. Throws
 * DRV_REQUEST_INVALID, which shows nothing of the value.
 */
export function secretText(text: string): string {
  const value = text.replace(LINE_WITH_END, '$1');
  const { error } = secretValueSchema.safeParse(value);
  if (error !== undefined) throw invalidRequest(`the value ${error.issues[0]?.message}`);
  return value;
}
