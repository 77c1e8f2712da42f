/**
 * Checks answers of a server against the committed description of the API (`manifests/openapi.json`). Status and
 * content type must be declared. A JSON body must match its schema and have no other field. A schema is compiled
 * for the first answer that needs it.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import { REPOSITORY } from '../repository-root.js';
import {
  type ApiDocument,
  type ApiOperation,
  type ApiResponse,
  apiDocumentSchema,
} from './openapi-document.js';

export const DOCUMENT_FILE = join(REPOSITORY, 'manifests/openapi.json');
const PREFIX = '/api';
const JSON_TYPE = 'application/json';
/** The statuses for a path or a method that the server does not have. */
const NOT_OURS: ReadonlySet<number> = new Set([400, 401, 404, 405, 413, 415, 426, 429, 503]);
/** The usual reason for a wrong answer is a route or schema that has just changed. */
const HINT = ' (is manifests/openapi.json stale? npx vitest run test/integration/openapi/openapi.test.ts -u)';
const DEFINITIONS = 'drover-components';
const SPECIAL = /[.+*?^$|()[\]\\]/g;
const REF = /"#\/components\/schemas\//g;

interface ObservedAnswer {
  readonly method: string;
  /** The URL of the request line, with prefix and query. */
  readonly url: string;
  readonly status: number;
  readonly contentType: string | undefined;
  /** The body; undefined: it is not checked, because it is long or not JSON. */
  readonly body: string | undefined;
}

export class OpenApiCheck {
  static #committed: OpenApiCheck | undefined;
  readonly #document: ApiDocument;
  readonly #matchers: readonly { readonly path: string; readonly pattern: RegExp }[];
  readonly #ajv = new Ajv2020({ strict: true, strictTypes: false, allErrors: true, validateSchema: false });
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(document: ApiDocument) {
    this.#document = document;
    this.#matchers = matchersOf(Object.keys(document.paths));
    ajvFormats.default(this.#ajv);
    this.#ajv.addSchema({ $id: DEFINITIONS, $defs: rewrite(document.components.schemas) });
  }

  /** The check against the committed document. All tests share it, so that each schema is compiled once. */
  static load(): OpenApiCheck {
    OpenApiCheck.#committed ??= new OpenApiCheck(
      apiDocumentSchema.parse(JSON.parse(readFileSync(DOCUMENT_FILE, 'utf8'))),
    );
    return OpenApiCheck.#committed;
  }

  /** True when the document declares the operation, given as `GET /instances/{id}`. */
  has(operation: string): boolean {
    const [method = '', path = ''] = operation.split(' ');
    return this.#operation(path, method) !== undefined;
  }

  /** The fault in an answer; undefined: the answer is right. */
  problemOf(answer: ObservedAnswer): string | undefined {
    const problem = this.#findProblem(answer);
    return problem === undefined
      ? undefined
      : `${answer.method} ${answer.url}: ${answer.status}: ${problem}${HINT}`;
  }

  #findProblem(answer: ObservedAnswer): string | undefined {
    const pathname = answer.url.replace(/^https?:\/\/[^/]*/, '').replace(/\?.*$/s, '');
    if (!pathname.startsWith(`${PREFIX}/`)) return undefined;
    // The server ignores one slash at the end.
    const asked = pathname.slice(PREFIX.length).replace(/(?<=.)\/$/, '');
    const path = this.#matchers.find(({ pattern }) => pattern.test(asked))?.path;
    const operation = this.#operation(path, answer.method);
    if (path === undefined || operation === undefined) return this.#problemOfUnknown(answer);
    const declared = operation.responses[answer.status];
    if (declared === undefined)
      return `the status is not declared for ${operation.operationId}${tail(answer)}`;
    return this.#problemOfBody(answer, this.#resolve(declared), `${operation.operationId} ${answer.status}`);
  }

  #operation(path: string | undefined, method: string): ApiOperation | undefined {
    const item = path === undefined ? undefined : this.#document.paths[path];
    return item?.[method === 'HEAD' ? 'get' : method.toLowerCase()];
  }

  #problemOfUnknown(answer: ObservedAnswer): string | undefined {
    if (!NOT_OURS.has(answer.status)) return `no operation declares it${tail(answer)}`;
    const name = answer.status === 429 ? 'RateLimited' : 'NotFound';
    return this.#problemOfBody(answer, this.#resolve({ $ref: `#/components/responses/${name}` }), name);
  }

  #resolve(response: ApiResponse): ApiResponse {
    const name = response.$ref?.split('/').at(-1);
    return name === undefined ? response : (this.#document.components.responses[name] ?? {});
  }

  #problemOfBody(answer: ObservedAnswer, { content }: ApiResponse, key: string): string | undefined {
    if (answer.method === 'HEAD') return undefined;
    const type = answer.contentType?.split(';')[0]?.trim();
    if (content === undefined) {
      return answer.body === undefined || answer.body === ''
        ? undefined
        : `a body is not declared${tail(answer)}`;
    }
    const media = content[type ?? ''];
    if (media === undefined)
      return `content type ${type} is not declared: ${Object.keys(content).join(', ')}`;
    if (type !== JSON_TYPE || answer.body === undefined || media.schema === undefined) return undefined;
    const validate = this.#validator(key, media.schema);
    if (validate(JSON.parse(answer.body))) return undefined;
    return `the body does not match: ${this.#ajv.errorsText(validate.errors)}${tail(answer)}`;
  }

  #validator(key: string, schema: unknown): ValidateFunction {
    const known = this.#validators.get(key);
    if (known !== undefined) return known;
    const made = this.#ajv.compile(rewrite(schema));
    this.#validators.set(key, made);
    return made;
  }
}

/**
 * Patterns for the paths, literal segments before parameters. `{path}` stands for the rest of a path, slashes included.
 */
function matchersOf(paths: readonly string[]): { path: string; pattern: RegExp }[] {
  return [...paths]
    .sort((a, b) => a.split('{').length - b.split('{').length)
    .map((path) => {
      const source = path
        .split(/(\{\w+\})/)
        .map((part) =>
          part === '{path}' ? '.+' : part.startsWith('{') ? '[^/]+' : part.replace(SPECIAL, '\\$&'),
        )
        .join('');
      return { path, pattern: new RegExp(`^${source}$`) };
    });
}

/** Points references to the shared definitions, and forbids fields that an object does not declare. */
function rewrite(schema: unknown): Record<string, unknown> {
  const text = JSON.stringify(schema).replace(REF, `"${DEFINITIONS}#/$defs/`);
  return JSON.parse(text, (_key, value: unknown) =>
    isObject(value) &&
    isObject(value.properties) &&
    value.type === 'object' &&
    value.additionalProperties === undefined
      ? { ...value, additionalProperties: false }
      : value,
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function tail({ body }: ObservedAnswer): string {
  return body === undefined ? '' : `; body: ${body.slice(0, 300)}`;
}
