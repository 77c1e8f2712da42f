/**
 * Describes the API as an OpenAPI 3.1 document, made from the zod schemas that check requests. Pure: equal routes
 * give equal bytes. The server serves it, `manifests/openapi.json` keeps it, and tests check answers against it.
 */
import { createDocument, type ZodOpenApiOverride, type ZodOpenApiPathsObject } from 'zod-openapi';
import type { RouteDescription } from '../http/route.js';
import type { SocketDescription } from '../sockets/socket.js';
import { COMPONENTS, finishComponents } from './components.js';
import { describeFields } from './field-words.js';
import { TAGS } from './names.js';
import { routeOperation, socketOperation } from './operations.js';

/** The version of the interface, which is not that of the program. */
const INTERFACE_VERSION = '1.0.0';
const MAX_INT32 = 2_147_483_647;

const INTRODUCTION = `Control plane of Drover: instances, configurations, templates, nodes and commands.

- Every endpoint needs \`Authorization: Bearer <key>\`, or the token of a session, except those marked as open.
- Collections are bare arrays; an error is \`{"error": "..."}\`; a write that tells nothing answers 204.
- An unknown path is a 404, a method that a path does not take a 405 with \`Allow\`, both behind the key.
- A slash at the end of a path is left out.
- Answers may gain fields; unknown fields in a request are accepted unless its schema says otherwise.`;

/** The address of a master as it is by default; a client fills in another one. */
const SERVER = {
  url: '{scheme}://{host}:{port}/api',
  description: 'a master',
  variables: {
    scheme: { default: 'http', enum: ['http', 'https'], description: '`https` with `apiTls`' },
    host: { default: '127.0.0.1', description: '`address` in config.json' },
    port: { default: '7000', description: '`apiPort` in config.json' },
  },
};

interface ApiDescription {
  readonly routes: readonly RouteDescription[];
  readonly sockets: readonly SocketDescription[];
}

/** Returns the document as JSON, after tens of milliseconds. Throws when `operation-ids.json` lacks a name. */
export function describeApi({ routes, sockets }: ApiDescription): string {
  const paths: ZodOpenApiPathsObject = {};
  for (const route of routes) {
    const path = toOpenApiPath(route.path);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: routeOperation(route) };
  }
  for (const socket of sockets) {
    const path = toOpenApiPath(socket.path);
    paths[path] = { ...paths[path], get: socketOperation(socket) };
  }
  const document = createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Drover',
        version: INTERFACE_VERSION,
        description: INTRODUCTION,
        license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
        contact: { name: 'The maintainers of Drover' },
      },
      servers: [SERVER],
      tags: TAGS.map(({ name, description }) => ({ name, description })),
      paths,
      components: COMPONENTS,
    },
    { override: tidySchema },
  );
  return `${JSON.stringify(describeFields(finishComponents(document)), null, 2)}\n`;
}

/** Turns a path of the router into one of OpenAPI: `/a/:id/*` into `/a/{id}/{path}`. */
export function toOpenApiPath(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}').replace(/\*$/, '{path}');
}

/** A character behind a backslash in a pattern. */
const ESCAPED = /\\(.)/gs;

/**
 * Removes the bounds of JavaScript's safe integers, needless escapes of slashes, and rules that would forbid new fields
 * in answers.
 */
const tidySchema: ZodOpenApiOverride = ({ jsonSchema, io }) => {
  if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
  if (jsonSchema.pattern !== undefined)
    jsonSchema.pattern = jsonSchema.pattern.replace(ESCAPED, (pair, character) =>
      character === '/' ? '/' : pair,
    );
  if (jsonSchema.type !== 'integer') return;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if ((jsonSchema.maximum ?? Number.POSITIVE_INFINITY) > MAX_INT32) jsonSchema.format = 'int64';
};
