/**
 * A small proxy as operators run them. It follows the change stream of the API and sends each request to an ONLINE
 * instance, or to the next when that instance takes no connection any more.
 */
import { readFileSync } from 'node:fs';
import { Agent, get, type IncomingMessage } from 'node:http';
import { until } from '../until.js';
import type { DaemonWorld } from './daemon.js';

const LANES = 4;

interface Entry {
  readonly id: string;
  readonly state: string;
  readonly allocatedPort?: number;
}

interface StreamMessage {
  readonly type: string;
  readonly first?: boolean;
  readonly put?: readonly Entry[];
  readonly gone?: readonly string[];
}

interface Load {
  /** How often each answer came. */
  readonly answers: ReadonlyMap<string, number>;
  readonly failures: readonly string[];
  /** Stops the load; resolves when no request is under way. */
  end(): Promise<void>;
}

export class FollowingProxy {
  readonly #entries = new Map<string, Entry>();
  readonly #stopping = new AbortController();
  // No kept connections: the other side may close a kept connection just when it is used again.
  readonly #agent = new Agent({ keepAlive: false });
  #turn = 0;

  /** Resolves when the proxy has the first snapshot. */
  static async start(world: DaemonWorld, configuration: string): Promise<FollowingProxy> {
    const proxy = new FollowingProxy();
    const key = readFileSync(world.paths.adminKey, 'utf8').trim();
    const path = `/api/watch?subscribe=instances&configuration=${configuration}&state=ONLINE`;
    await new Promise<void>((resolve, reject) => {
      const request = get(
        {
          port: world.apiPort,
          path,
          headers: { authorization: `Bearer ${key}` },
          signal: proxy.#stopping.signal,
        },
        (response) => {
          response.once('data', () => resolve());
          proxy.#follow(response);
        },
      );
      request.on('error', reject);
    });
    await until(() => {
      if (proxy.backends.length === 0) throw new Error('no instance is ONLINE');
    });
    return proxy;
  }

  get backends(): readonly number[] {
    return [...this.#entries.values()].flatMap(({ allocatedPort }) => allocatedPort ?? []);
  }

  /** Sends requests without a pause, several at a time. */
  load(): Load {
    const answers = new Map<string, number>();
    const failures: string[] = [];
    let isOver = false;
    const lane = async (): Promise<void> => {
      while (!isOver)
        await this.#ask().then(
          (answer) => answers.set(answer, (answers.get(answer) ?? 0) + 1),
          (error: unknown) => failures.push(String(error)),
        );
    };
    const lanes = Array.from({ length: LANES }, lane);
    return {
      answers,
      failures,
      end: async () => {
        isOver = true;
        await Promise.all(lanes);
      },
    };
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#agent.destroy();
  }

  /** Sends one request. Throws when no backend takes it. */
  async #ask(): Promise<string> {
    let last: unknown = new Error('there is no backend');
    for (const port of this.#inTurn()) {
      try {
        return await this.#fetch(port);
      } catch (error) {
        last = error;
      }
    }
    throw last;
  }

  #inTurn(): readonly number[] {
    const ports = this.backends;
    const at = this.#turn++ % Math.max(1, ports.length);
    return [...ports.slice(at), ...ports.slice(0, at)];
  }

  #fetch(port: number): Promise<string> {
    return new Promise((resolve, reject) => {
      const request = get({ port, host: '127.0.0.1', agent: this.#agent }, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (part: string) => {
          text += part;
        });
        response.on('end', () => resolve(text));
        response.on('error', reject);
      });
      request.on('error', reject);
    });
  }

  #follow(response: IncomingMessage): void {
    let rest = '';
    response.setEncoding('utf8');
    // `stop` aborts the response.
    response.on('error', () => undefined);
    response.on('data', (part: string) => {
      const lines = (rest + part).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line !== '') this.#take(line);
    });
  }

  #take(line: string): void {
    const parsed: StreamMessage | readonly StreamMessage[] = JSON.parse(line);
    for (const message of Array.isArray(parsed) ? parsed : [parsed]) {
      if (message.first === true) this.#entries.clear();
      for (const entry of message.put ?? []) this.#entries.set(entry.id, entry);
      for (const id of message.gone ?? []) this.#entries.delete(id);
    }
  }
}
