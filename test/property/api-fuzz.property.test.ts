/**
 * Whatever is sent to any endpoint: an answer that the API's description declares, never a fault, never a stack trace
 * or a path of the server. `DROVER_PROPERTY_RUNS` (requests for each operation) and `DROVER_PROPERTY_SEED` make longer
 * or repeated runs; the seed stands in the message of a failure.
 */
import { Agent, type OutgoingHttpHeaders, request } from 'node:http';
import { homedir, tmpdir } from 'node:os';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiWorld, instanceRecord } from '../support/api/api-world.js';
import { type FuzzRequest, requestsOf } from '../support/api/openapi-arbitraries.js';
import { OpenApiCheck } from '../support/api/openapi-check.js';
import { apiDocumentSchema } from '../support/api/openapi-document.js';
import { freePorts } from '../support/free-ports.js';

const RUNS = Number(process.env.DROVER_PROPERTY_RUNS ?? 8);
const TIMEOUT_MS = 300_000 + RUNS * 1000;
/** Hung, not slow. */
const ANSWER_TIMEOUT_MS = 120_000;
const STACK = /\bat (?:\S+ )?\(?(?:file:|node:|\/)\S+:\d+/;
const SERVER_PATHS = [process.cwd(), homedir(), tmpdir(), 'node_modules', '/proc/'].filter(
  (path) => path.length > 1,
);

const document = apiDocumentSchema.parse(JSON.parse(await new ApiWorld().server.describe()));
const check = new OpenApiCheck(document);
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    path,
    method,
    operation,
  })),
);
const IDS = ['aaaaaa', 'bbbbbb', 'cccccc', 'dddddd', 'eeeeee'];
const known = {
  id: [...IDS, 'n1', 'zzzzzz'],
  name: ['hello', 'lobby', 'nope'],
  group: ['games', 'nope'],
  path: ['readme.txt', 'a/b.txt', 'a', 'nope.txt'],
  configurationName: ['hello'],
  state: ['ONLINE', 'OFFLINE'],
  storage: ['local', 'shelf'],
  pattern: ['*', 'games/*', 'games/lobby'],
  command: ['help', 'instance list', 'say hello'],
};

let world: ApiWorld;
let agent: Agent;
beforeAll(async () => {
  world = await new ApiWorld({ configuration: { apiPort: await freePorts(1) } }).start();
  await world.server.start();
  agent = new Agent({ keepAlive: true, maxSockets: 4 });
  await world.addConfiguration('hello');
  for (const id of IDS) await world.putInstance(instanceRecord({ id }));
});
afterAll(async () => {
  agent.destroy();
  await world.stop();
});

interface Seen {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly text: string;
}

function send({ method, path, contentType, body, hasKey }: FuzzRequest): Promise<Seen> {
  const headers: OutgoingHttpHeaders = {
    ...(hasKey && { authorization: `Bearer ${world.admin}` }),
    ...(contentType !== undefined && { 'content-type': contentType }),
    'content-length': body?.length ?? 0,
  };
  return new Promise((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      port: world.server.address?.port,
      method,
      path: `/api${path}`,
      headers,
      agent,
    };
    const call = request({ ...options, timeout: ANSWER_TIMEOUT_MS }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('error', reject);
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, contentType: response.headers['content-type'], text });
      });
    });
    call.on('timeout', () => call.destroy(new Error('no answer')));
    call.on('error', reject);
    call.end(body);
  });
}

/** What is wrong with an answer, in words, so that a failure can be read. */
function faultsOf({ method, path }: FuzzRequest, { status, contentType, text }: Seen): string[] {
  const problem = check.problemOf({ method, url: `/api${path}`, status, contentType, body: text });
  return [
    ...(problem === undefined ? [] : [problem]),
    ...(status === 500 ? [`a fault of the server: ${JSON.stringify(world.log.at(-1))}`] : []),
    ...(status >= 400 && STACK.test(text) ? [`a stack trace: ${text}`] : []),
    ...SERVER_PATHS.filter((secret) => status >= 400 && text.includes(secret)).map(
      (secret) => `${secret} in ${text}`,
    ),
  ];
}

describe(`any request (${RUNS} for each operation)`, () => {
  it.each(operations)(
    'to $name gets an answer that is declared, without a trace of the inside',
    async (target) => {
      await fc.assert(
        fc.asyncProperty(requestsOf({ document, known }, target), async (sent) => {
          const seen = await send(sent);
          expect(faultsOf(sent, seen)).toEqual([]);
        }),
        { numRuns: RUNS },
      );
      expect((await world.call('GET', '/ping')).status).toBe(200);
    },
    TIMEOUT_MS,
  );
});
