/**
 * A running command of the client in the test's own process. Its connection goes over a proxy that the test can cut,
 * and its output may be full.
 */

import { ApiClient } from '../../../src/client/api-client.js';
import { HttpConnection } from '../../../src/client/connection/http-connection.js';
import type { LiveOutput } from '../../../src/client/live/live-output.js';
import { TcpProxy } from '../cluster/tcp-proxy.js';

export class LiveRun {
  readonly api: ApiClient;
  readonly proxy: TcpProxy;
  /** The output so far, on stdout and stderr. */
  out = '';
  readonly said: string[] = [];
  readonly #ending = new AbortController();
  #isRead = true;
  #full: Promise<void> = Promise.resolve();
  #drain = (): void => undefined;

  private constructor(proxy: TcpProxy, key: string) {
    this.proxy = proxy;
    const target = {
      name: 'prod',
      kind: 'context',
      url: `http://127.0.0.1:${proxy.port}`,
      key: { kind: 'text', key, from: 'it' },
      trust: { kind: 'system' },
    } as const;
    this.api = new ApiClient(new HttpConnection(target, { version: '0.1.0' }));
  }

  /** `url`: the URL of the API. */
  static async over(url: string, key: string): Promise<LiveRun> {
    return new LiveRun(await TcpProxy.start({ port: Number(new URL(url).port) }), key);
  }

  get lines(): string[] {
    return this.out.split('\n').slice(0, -1);
  }

  readonly output: LiveOutput = {
    isColoured: false,
    signal: this.#ending.signal,
    write: async (text) => {
      this.out += text;
      await this.#full;
      return this.#isRead;
    },
    say: (line) => {
      this.said.push(line);
    },
    show: (text) => {
      this.said.push(...text.split('\n'));
    },
  };

  /** Fills stdout: writes wait until `drain`, as when the reader of a pipe does not read. */
  fill(): void {
    this.#full = new Promise((resolve) => {
      this.#drain = resolve;
    });
  }

  drain(): void {
    this.#full = Promise.resolve();
    this.#drain();
  }

  /** Closes stdout, as when the reader of a pipe goes away. */
  close(): void {
    this.#isRead = false;
  }

  stop(): Promise<void> {
    this.#ending.abort();
    this.drain();
    return this.proxy.stop();
  }
}
