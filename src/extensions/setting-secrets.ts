/** Finds the secrets in an extension's settings, and hides them in every text that people read. */

const SECRET_NAME = /secret|passw|token|credential|api[-_]?key|access[-_]?key|private[-_]?key|authorization/i;
/** The length of the shortest value that is hidden: hiding shorter values would cut holes into ordinary words. */
const SHORTEST = 4;
const MAX_DEPTH = 16;
const HIDDEN = '***';
/**
 * The parts of a URL that may be secret: `user:password@`, and everything behind the question mark. A server may have
 * written the text, so both patterns take linear time: no match begins inside text that was read already.
 */
const USER_IN_URL = /(:\/\/)[^\s/@'"]+@/g;
const WEB_URL = /\bhttps?:\/\/[^\s'"]*/gi;

export interface SettingSecret {
  /** The path of the field, such as `storages.main.secretAccessKey`. */
  readonly field: string;
  readonly value: string;
}

/** The values of fields with a secret name, and the secret parts of URLs. */
export function secretsIn(settings: unknown): SettingSecret[] {
  const found: SettingSecret[] = [];
  collect(settings, '', found, 0);
  return found;
}

/** `text` without the secrets' values, and without the secret parts of URLs. */
export function hideSecretsIn(text: string, secrets: readonly SettingSecret[]): string {
  let shown = text;
  for (const { value } of secrets) shown = shown.replaceAll(value, HIDDEN);
  return shown.replace(USER_IN_URL, `$1${HIDDEN}@`).replace(WEB_URL, withoutQuery);
}

function withoutQuery(url: string): string {
  const mark = url.indexOf('?');
  return mark === -1 ? url : `${url.slice(0, mark)}?${HIDDEN}`;
}

function collect(value: unknown, field: string, found: SettingSecret[], depth: number): void {
  if (depth > MAX_DEPTH || value === null || value === undefined) return;
  if (typeof value === 'object') {
    for (const [name, inner] of Object.entries(value))
      collect(inner, field === '' ? name : `${field}.${name}`, found, depth + 1);
    return;
  }
  if (typeof value !== 'string' || value.length < SHORTEST) return;
  const name = field.slice(field.lastIndexOf('.') + 1);
  if (SECRET_NAME.test(name)) found.push({ field, value });
  else for (const part of secretPartsOfUrl(value)) found.push({ field, value: part });
}

function secretPartsOfUrl(text: string): string[] {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text) || !URL.canParse(text)) return [];
  const { password, search } = new URL(text);
  return [password, search.slice(1)].filter((part) => part.length >= SHORTEST);
}
