/**
 * One master with both its doors, the command tree and the API server, in one process. It checks each route's answer
 * against the API's description. A test can compare the answer with the output of the command.
 */
import { z } from 'zod';
import { InstanceTokens } from '../../../src/access/tokens.js';
import type { ApiDependencies } from '../../../src/api/dependencies.js';
import { ApiServer } from '../../../src/api/server.js';
import type { AuditEntry } from '../../../src/model/audit.js';
import { Metrics } from '../../../src/telemetry/metrics.js';
import { OpenApiCheck } from '../api/openapi-check.js';
import { TemplateWorld } from '../templates/template-world.js';
import { CommandWorld } from './command-world.js';

const createdKey = z.object({ token: z.string() });

interface Answer {
  readonly status: number;
  readonly json: unknown;
  readonly headers: Headers;
}

export class OperationsWorld {
  readonly commands: CommandWorld;
  readonly server: ApiServer;
  /** The audit entries of requests, without their time and address. */
  readonly audit: { key: string | null; action: string; subject: string | null; result: string }[] = [];
  readonly #check = OpenApiCheck.load();
  /** The token of the ALL key `boss`. */
  readonly token: string;

  private constructor(commands: CommandWorld, token: string) {
    this.commands = commands;
    this.token = token;
    this.server = new ApiServer({ dependencies: this.#dependencies() });
  }

  /** Makes a master `alpha` with its own wrapper, and an ALL key `boss`. */
  static async create(): Promise<OperationsWorld> {
    const commands = await CommandWorld.create();
    const { token } = createdKey.parse(await commands.json('key create boss ALL'));
    const world = new OperationsWorld(commands, token);
    await world.server.start();
    return world;
  }

  async stop(): Promise<void> {
    await this.server.stop();
    await this.commands.stop();
  }

  /** The URL of the server, without `/api`. */
  get url(): string {
    return `http://127.0.0.1:${this.server.address?.port}`;
  }

  /** Sends a request such as `GET /keys`. Throws when the answer does not match the API's description. */
  async call(
    row: string,
    {
      body,
      token = this.token,
      headers: more,
    }: {
      readonly body?: unknown;
      readonly token?: string;
      readonly headers?: Readonly<Record<string, string>>;
    } = {},
  ): Promise<Answer> {
    const [method = '', path = ''] = row.split(' ');
    const url = `/api${path}`;
    const response = await fetch(`${this.url}${url}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...more },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const { status, headers } = response;
    const text = await response.text();
    const contentType = headers.get('content-type') ?? undefined;
    const problem = this.#check.problemOf({ method, url, status, contentType, body: text });
    if (problem !== undefined) throw new Error(problem);
    return { status, headers, json: text === '' ? undefined : JSON.parse(text) };
  }

  #dependencies(): ApiDependencies {
    const { dependencies, plane, commands } = this.commands;
    const { clock, configuration } = dependencies;
    return {
      ...dependencies,
      commands,
      configuration: { ...configuration, apiPort: 0 },
      streams: plane.master.streams,
      templates: new TemplateWorld({ clock, maxUploadMB: configuration.maxUploadMB }).local,
      verifyInstanceToken: (token) => new InstanceTokens(Buffer.alloc(32, 7), () => undefined).verify(token),
      audit: { record: (entry) => this.#record(entry), last: () => [] },
      metrics: new Metrics(),
    };
  }

  #record({ key, action, subject, result }: Omit<AuditEntry, 'at'>): void {
    this.audit.push({ key, action, subject, result });
  }
}
