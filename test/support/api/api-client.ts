/**
 * A small REST client of a daemon, for tests that kill it: each request has a new connection. It notes every
 * acknowledged write, so that AcknowledgedWrites can compare them with later reads. It checks every answer against
 * the API's description.
 */
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { request as requestTls } from 'node:https';
import { expect } from 'vitest';
import { z } from 'zod';
import type { LifecycleTarget } from '../../../src/api/routes/instances/instance-schemas.js';
import { instanceLogSchema } from '../../../src/api/routes/instances/log-routes.js';
import { type Configuration, configurationSchema } from '../../../src/model/configuration.js';
import { type InstanceInfo, instanceInfoSchema } from '../../../src/model/instance.js';
import { AcknowledgedWrites } from '../daemon/acknowledged-writes.js';
import { OpenApiCheck } from './openapi-check.js';

/** Long enough for a slow machine: a daemon that takes longer hangs. */
const REQUEST_TIMEOUT_MS = 120_000;

interface Answer {
  readonly status: number;
  readonly text: string;
}

interface ApiClientOptions {
  /** Default: loopback. */
  readonly host?: string;
  readonly apiPort: number;
  /** The path of `data/admin.key`. It is read for each request. */
  readonly keyFile: string;
  /** For an API over TLS: the path of the PEM that checks the server. It is read for each request. */
  readonly authorityFile?: string | undefined;
}

export class ApiClient {
  readonly writes = new AcknowledgedWrites();
  readonly #options: ApiClientOptions;
  readonly #check = OpenApiCheck.load();

  constructor(options: ApiClientOptions) {
    this.#options = options;
  }

  /**
   * Sends a request with the admin key, and with the content type that existing clients always send. Rejects when no
   * answer comes.
   */
  async send(method: string, path: string, body?: unknown): Promise<Answer> {
    const { host = '127.0.0.1', apiPort: port, keyFile, authorityFile } = this.#options;
    const payload = body === undefined ? '' : JSON.stringify(body);
    const headers = {
      authorization: `Bearer ${readFileSync(keyFile, 'utf8').trim()}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(payload),
    };
    return new Promise((resolve, reject) => {
      const options = { host, port, method, path: `/api${path}`, headers, agent: false };
      const ca = authorityFile === undefined ? {} : { ca: readFileSync(authorityFile) };
      const ask = authorityFile === undefined ? request : requestTls;
      const call = ask({ ...options, ...ca, timeout: REQUEST_TIMEOUT_MS }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('end', () => {
          const status = response.statusCode ?? 0;
          const contentType = response.headers['content-type'];
          const problem = this.#check.problemOf({
            method,
            url: options.path,
            status,
            contentType,
            body: text,
          });
          if (problem === undefined) resolve({ status, text });
          else reject(new Error(problem));
        });
        response.on('error', reject);
      });
      call.on('timeout', () => call.destroy(new Error(`${method} ${path}: no answer`)));
      call.on('error', reject);
      call.end(payload);
    });
  }

  async instances(configuration?: string): Promise<InstanceInfo[]> {
    const all = await this.#expect(200, 'GET', '/instances', z.array(instanceInfoSchema));
    return all.filter(({ configurationName }) => (configuration ?? configurationName) === configurationName);
  }

  instance(id: string): Promise<InstanceInfo> {
    return this.#expect(200, 'GET', `/instances/${id}`, instanceInfoSchema);
  }

  configurations(): Promise<Configuration[]> {
    return this.#expect(200, 'GET', '/configurations', z.array(configurationSchema));
  }

  async logs(id: string, lines = 1000): Promise<string[]> {
    return (await this.#expect(200, 'GET', `/instances/${id}/logs?lines=${lines}`, instanceLogSchema)).lines;
  }

  async metrics(): Promise<string> {
    return (await this.send('GET', '/metrics')).text;
  }

  async create(configurationName: string): Promise<InstanceInfo> {
    const made = await this.#expect(201, 'POST', '/instances', instanceInfoSchema, { configurationName });
    this.writes.created(made.id);
    return made;
  }

  async remove(id: string): Promise<void> {
    await this.writes.removing(id, () => this.#expect(200, 'DELETE', `/instances/${id}`, z.unknown()));
  }

  async lifecycle(id: string, target: LifecycleTarget): Promise<void> {
    await this.#expect(200, 'PATCH', `/instances/${id}/lifecycle?target=${target}`, z.unknown());
  }

  async execute(id: string, command: string): Promise<void> {
    await this.#expect(200, 'POST', `/instances/${id}/execute`, z.unknown(), { command });
  }

  async putConfiguration(name: string, fields: Readonly<Record<string, unknown>>): Promise<void> {
    const body = { ...fields, name };
    await this.writes.configuring(name, body, async () => {
      await this.#expect(204, 'PUT', `/configurations/${name}`, z.unknown(), body);
    });
  }

  async removeConfiguration(name: string): Promise<void> {
    await this.writes.configuring(name, undefined, async () => {
      await this.#expect(204, 'DELETE', `/configurations/${name}`, z.unknown());
    });
  }

  async #expect<T>(
    status: number,
    method: string,
    path: string,
    schema: z.ZodType<T>,
    body?: unknown,
  ): Promise<T> {
    const answer = await this.send(method, path, body);
    expect(answer, `${method} ${path}`).toMatchObject({ status });
    return schema.parse(answer.text === '' ? undefined : JSON.parse(answer.text));
  }
}
