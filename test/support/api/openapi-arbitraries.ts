/** Makes requests from the API's description, for the fuzz test: most of them nearly right, some right, some absurd. */
import fc from 'fast-check';
import type { ApiDocument, ApiOperation } from './openapi-document.js';

type Schema = Readonly<Record<string, unknown>>;

export interface FuzzRequest {
  readonly method: string;
  /** The path of the request line, without `/api`. */
  readonly path: string;
  readonly contentType: string | undefined;
  readonly body: Buffer | undefined;
  readonly hasKey: boolean;
}

interface Source {
  readonly document: ApiDocument;
  /**
   * The names and ids in the world under test, by parameter or field. With invented names, every request would end in
   * "there is no such".
   */
  readonly known: Readonly<Record<string, readonly string[]>>;
}

const MAX_DEPTH = 6;
/** Texts that have broken servers before. `RAW` goes into a path unchanged; the rest is encoded. */
const RAW = [
  '..',
  '.',
  '%2e%2e',
  '..%2f..',
  '%2e%2e%2fetc%2fpasswd',
  '%252e%252e',
  '%00',
  '%',
  '%zz',
  ';x',
  '*',
];
const NASTY = [
  '',
  ' ',
  '..',
  '../../etc/passwd',
  '/etc/passwd',
  'C:\\Windows',
  'a\0b',
  '__proto__',
  'constructor',
  'toString',
  '%41',
  'é',
  '\u202e',
  '💥',
  '\ud800',
  "'; --",
  '$(id)',
  '%PORT%',
  'a'.repeat(300),
  'a'.repeat(5000),
  'NaN',
  '-1',
  '1e400',
  '9007199254740993',
  'true',
  'null',
  '[]',
  '{}',
];
const CONTENT_TYPES = [
  'application/json',
  'application/json; charset=latin1',
  'APPLICATION/JSON',
  'text/plain',
  'application/octet-stream',
  'application/zip',
  'multipart/form-data; boundary=x',
  'x',
  '/',
];

/** Values for a JSON schema. References are looked up in the document. */
export function valuesOf(source: Source, schema: Schema, depth = 0): fc.Arbitrary<unknown> {
  const { $ref, anyOf, type } = schema;
  if (typeof $ref === 'string') {
    return valuesOf(source, source.document.components.schemas[$ref.split('/').at(-1) ?? ''] ?? {}, depth);
  }
  if ('const' in schema) return fc.constant(schema.const);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  if (Array.isArray(anyOf)) return fc.oneof(...anyOf.map((one) => valuesOf(source, one, depth)));
  switch (type) {
    case 'string':
      return stringsOf(schema);
    case 'integer':
      return fc.integer({
        min: numberOf(schema.minimum, -10),
        max: Math.min(numberOf(schema.maximum, 1e6), 2 ** 31 - 1),
      });
    case 'number':
      return fc.double({ noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return depth > MAX_DEPTH
        ? fc.constant([])
        : fc.array(valuesOf(source, schemaOf(schema.items), depth + 1), { maxLength: 3 });
    case 'object':
      return depth > MAX_DEPTH ? fc.constant({}) : objectsOf(source, schema, depth);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function orKnown(known: readonly string[] | undefined, values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return known === undefined
    ? values
    : fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...known) }, { weight: 1, arbitrary: values });
}

function stringsOf({ pattern, minLength, maxLength }: Schema): fc.Arbitrary<string> {
  if (typeof pattern === 'string') return fc.stringMatching(new RegExp(pattern));
  const max = Math.min(numberOf(maxLength, 40), 40);
  return fc.string({ minLength: Math.min(numberOf(minLength, 0), max), maxLength: max, unit: 'grapheme' });
}

function objectsOf(source: Source, schema: Schema, depth: number): fc.Arbitrary<unknown> {
  const fields = Object.fromEntries(
    Object.entries(schemaOf(schema.properties)).map(([name, one]) => [
      name,
      orKnown(source.known[name], valuesOf(source, schemaOf(one), depth + 1)),
    ]),
  );
  const requiredKeys = Array.isArray(schema.required) ? schema.required.map(String) : [];
  return fc.record(fields, { requiredKeys });
}

/** A valid object with one value replaced, left out or added, as a client with a mistake sends it. */
export function mutated(values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const wrong = fc.oneof(
    fc.constantFrom<unknown>(...NASTY, null, -1, 1.5, 1e300, [], {}, true),
    fc.jsonValue(),
  );
  const extra = fc.constantFrom('name', 'extra', 'constructor', 'id', '');
  return fc.tuple(values, wrong, fc.nat(), extra).map(([value, other, index, key]) => {
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return other;
    const keys = Object.keys(value);
    const changed = index % 3 === 0 ? key : (keys[index % (keys.length || 1)] ?? key);
    return { ...value, [changed]: index % 4 === 1 ? undefined : other };
  });
}

function bodiesOf(
  source: Source,
  operation: ApiOperation,
): fc.Arbitrary<Pick<FuzzRequest, 'body' | 'contentType'>> {
  const json = operation.requestBody?.content['application/json']?.schema;
  const values = json === undefined ? fc.jsonValue() : valuesOf(source, json);
  const encode = (value: unknown): Buffer => Buffer.from(JSON.stringify(value) ?? '');
  const own = Object.keys(operation.requestBody?.content ?? { 'application/json': {} });
  const contentType = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...own) },
    { weight: 1, arbitrary: fc.constantFrom(...CONTENT_TYPES, undefined) },
  );
  const body = fc.oneof(
    { weight: 4, arbitrary: values.map(encode) },
    { weight: 4, arbitrary: mutated(values).map(encode) },
    { weight: 1, arbitrary: fc.jsonValue().map(encode) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
    { weight: 1, arbitrary: fc.constant(undefined) },
  );
  return fc.record({ body, contentType });
}

function segmentsOf(values: fc.Arbitrary<unknown>, known: readonly string[]): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...(known.length > 0 ? known : ['x'])).map(encode) },
    { weight: 2, arbitrary: values.map((value) => encode(String(value))) },
    { weight: 2, arbitrary: fc.constantFrom(...NASTY).map(encode) },
    { weight: 1, arbitrary: fc.constantFrom(...RAW) },
  );
}

function queriesOf(source: Source, { parameters }: ApiOperation): fc.Arbitrary<string> {
  const pairs = parameters
    .filter((parameter) => parameter.in === 'query')
    .map(({ name, schema, required }) => {
      const value = fc.oneof(
        { weight: 4, arbitrary: valuesOf(source, schema).map(String) },
        { weight: 2, arbitrary: fc.constantFrom(...NASTY) },
      );
      const pair = value.map((text) => `${name}=${encode(text)}`);
      return fc.oneof(
        { weight: 6, arbitrary: pair },
        { weight: required ? 1 : 3, arbitrary: fc.constant('') },
        { weight: 1, arbitrary: pair.map((text) => `${text}&${text}`) },
      );
    });
  return fc
    .tuple(
      fc.tuple(...pairs),
      fc.constantFrom('', '', '', 'unknown=1', '__proto__=1', '%zz', '&&==', 'a[b]=c'),
    )
    .map(([parts, extra]) => [...parts, extra].filter((part) => part !== '').join('&'))
    .map((query) => (query === '' ? '' : `?${query}`));
}

/** Encodes a text for a path. Going through bytes replaces half a surrogate pair, which cannot be encoded. */
function encode(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString());
}

function numberOf(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

function schemaOf(value: unknown): Schema {
  return value !== null && typeof value === 'object' ? { ...value } : {};
}

/** Requests for one operation of the document. */
export function requestsOf(
  source: Source,
  { path, method, operation }: { path: string; method: string; operation: ApiOperation },
): fc.Arbitrary<FuzzRequest> {
  const parts = path.split(/(\{\w+\})/).map((part) => {
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    if (name === undefined) return fc.constant(part);
    const schema = operation.parameters.find(
      (parameter) => parameter.in === 'path' && parameter.name === name,
    )?.schema;
    return segmentsOf(valuesOf(source, schema ?? {}), source.known[name] ?? []);
  });
  const takesBody = method !== 'get';
  return fc
    .tuple(
      fc.tuple(...parts),
      queriesOf(source, operation),
      takesBody ? bodiesOf(source, operation) : fc.constant({ body: undefined, contentType: undefined }),
      fc.nat(19).map((chance) => chance > 0),
    )
    .map(([segments, query, { body, contentType }, hasKey]) => ({
      method: method.toUpperCase(),
      path: segments.join('') + query,
      contentType,
      body,
      hasKey,
    }));
}
