/** Webhooks over real files and a real receiver: each event once by its id, in order, signed, and nothing secret told. */
import { createHmac } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { EventRecorder } from '../../../controllers/master/events/recorder.js';
import { ALL_WEBHOOKS, Notices } from '../../../controllers/master/notice/reconciler.js';
import { MAX_FILE_BYTES } from '../../../src/configuration-files/parse.js';
import { readWebhooks } from '../../../src/configuration-files/read-webhooks.js';
import { Controller } from '../../../src/loop/controller.js';
import { MasterState } from '../../../src/state/master-state.js';
import { Metrics } from '../../../src/telemetry/metrics.js';
import { FlakyStore } from '../../support/control-plane/flaky-store.js';
import { FakeClock } from '../../support/fake-clock.js';
import { metricsText } from '../../support/metrics-text.js';
import { until } from '../../support/until.js';

const SECRET_PATH = 'hook/XyZSecret';

let root: string;
let directory: string;
let server: Server;
let received: { readonly id: string; readonly body: string; readonly isSigned: boolean }[];
let status: number;
let location: string | undefined;
let clock: FakeClock;
let store: FlakyStore;
let state: MasterState;
let metrics: Metrics;
let logged: string[];
let leader: Awaited<ReturnType<typeof lead>>;

async function lead() {
  const term = new AbortController();
  const logger = pino({}, { write: (line: string) => void logged.push(line) });
  const recorder = new EventRecorder({ state, clock, logger, ending: term.signal });
  recorder.start();
  const readings = () => readWebhooks(directory);
  const lookAtWebhook = (name: string): void => controller.enqueue(name);
  const notices = new Notices({ ...state, readWebhooks: readings, lookAtWebhook, metrics, clock, logger });
  const controller = new Controller({ reconciler: notices, clock, random: () => 0, trace: () => undefined });
  state.events.onChange(() => controller.enqueue(ALL_WEBHOOKS), term.signal);
  state.notices.onChange(lookAtWebhook, term.signal);
  controller.enqueue(ALL_WEBHOOKS);
  controller.start();
  const stop = async (): Promise<void> => {
    await controller.stop();
    await recorder.stop();
    term.abort();
  };
  return { recorder, notices, controller, stop };
}

const write = (name: string, content: unknown): Promise<void> =>
  writeFile(join(directory, name), typeof content === 'string' ? content : JSON.stringify(content));
const url = (): string =>
  `http://127.0.0.1:${(server.address() as AddressInfo).port}/${SECRET_PATH}?key=hunter22`;
const crash = (instance: string): void =>
  leader.recorder.note({
    kind: 'crashed',
    configuration: 'lobby',
    node: instance,
    instance,
    detail: 'exited with code 1',
  });
/** Lets time pass, with the answers of the receiver. */
async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 1000) {
    await clock.advance(1000);
    await leader.controller.whenIdle();
  }
}

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'drover-webhooks-'));
  directory = join(root, 'webhooks');
  await mkdir(directory);
  received = [];
  status = 204;
  location = undefined;
  logged = [];
  server = createServer(async (request, response) => {
    const body = await text(request);
    const header = (name: string): string => String(request.headers[`x-drover-${name}`]);
    const signature = createHmac('sha256', 's3cret')
      .update(`${header('timestamp')}.${body}`)
      .digest('hex');
    if (status < 300)
      received.push({ id: header('notice'), body, isSigned: header('signature') === `sha256=${signature}` });
    response.writeHead(status, location === undefined ? {} : { location }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  clock = new FakeClock();
  store = new FlakyStore(clock);
  state = new MasterState(store, pino({ level: 'silent' }));
  await state.start();
  metrics = new Metrics();
  await writeFile(join(root, 'secret'), 's3cret\n', { mode: 0o600 });
});

afterEach(async () => {
  await leader.stop();
  await state.stop();
  await store.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(root, { recursive: true });
});

it('tells each event once by its id and in order, over a receiver that is away and a failover', async () => {
  await write('ops.json', { url: url(), secretFile: '../secret' });
  leader = await lead();
  await pass(1000);
  crash('aaaaaa');
  await pass(10_000);
  status = 503;
  for (let minute = 0; minute < 10; minute++) {
    leader.recorder.note({ kind: 'node', node: `n${minute}`, detail: 'is lost' });
    await pass(60_000);
    if (minute !== 4) continue;
    await leader.stop();
    leader = await lead();
  }
  expect(leader.notices.list()).toMatchObject([
    { name: 'ops', waiting: 10, lost: 0, problem: expect.stringContaining('status 503') },
  ]);
  status = 200;
  await pass(3_600_000);
  const texts = received.map(({ body }) => (JSON.parse(body) as { text: string }).text);
  expect(texts).toEqual([
    'aaaaaa of lobby ended unasked: exited with code 1',
    ...Array.from({ length: 10 }, (_, minute) => `n${minute} is lost`),
  ]);
  expect(new Set(received.map(({ id }) => id)).size).toBe(11);
  expect(received.every(({ isSigned }) => isSigned)).toBe(true);
  expect(leader.notices.list()).toMatchObject([{ waiting: 0, problem: null, failingSince: null }]);
  expect(await metricsText(metrics)).toContain('drover_notices_total{webhook="ops",outcome="delivered"} 11');
});

it('takes a new file, a changed one and a broken one while it runs, and names the place of a fault', async () => {
  leader = await lead();
  await pass(1000);
  expect(leader.notices.list()).toEqual([]);
  await write('chat.json', { url: url(), format: 'discord', configurations: ['lobby'] });
  await pass(6000);
  crash('aaaaaa');
  leader.recorder.note({ kind: 'node', node: 'n1', detail: 'is lost' });
  await pass(10_000);
  expect(received.map(({ body }) => JSON.parse(body))).toEqual([
    { content: 'aaaaaa of lobby ended unasked: exited with code 1', allowed_mentions: { parse: [] } },
  ]);
  await write('chat.json', '{\n  "url": "ftp://secret-host/secret"\n}');
  await pass(6000);
  const [shown] = leader.notices.list();
  expect(shown?.problem).toMatch(/^webhooks\/chat\.json:2: url: must be an address/);
  expect(shown?.problem).not.toContain('secret');
  await expect(leader.notices.test('chat', 'admin')).rejects.toThrow('must be an address');
  await write('chat.json', '"https://secret-host/secret"');
  await pass(6000);
  expect(leader.notices.list()[0]?.problem).toBe(
    'webhooks/chat.json:1: must be an object in { }, is another text',
  );
  await expect(leader.notices.test('other', 'admin')).rejects.toThrow('no webhook "other"');
});

it('tells the others while a receiver hangs', async () => {
  const hanging = createServer(() => undefined);
  await new Promise<void>((resolve) => hanging.listen(0, '127.0.0.1', resolve));
  const { port } = hanging.address() as AddressInfo;
  await write('a.json', { url: `http://127.0.0.1:${port}`, minSeconds: 0 });
  await write('b.json', { url: url(), minSeconds: 0 });
  leader = await lead();
  await pass(1000);
  for (const instance of ['aaaaaa', 'bbbbbb']) {
    leader.recorder.note({ kind: 'node', node: instance, detail: 'is lost' });
    await clock.advance(1000);
  }
  await until(() => expect(received).toHaveLength(2));
  expect(leader.notices.list()).toMatchObject([{ name: 'a', waiting: 2 }, { name: 'b' }]);
  hanging.closeAllConnections();
  await new Promise((resolve) => hanging.close(resolve));
});

it('reads no file that is larger than a webhook can be', async () => {
  await write('ops.json', { url: url(), secretFile: '../secret' });
  await write('big.json', ' '.repeat(MAX_FILE_BYTES + 1));
  await writeFile(join(root, 'secret'), 'x'.repeat(MAX_FILE_BYTES + 1));
  leader = await lead();
  await pass(1000);
  const tooLarge = 'cannot be read: it is larger than the limit of 1024 KiB';
  expect(leader.notices.list().map(({ problem }) => problem)).toEqual([
    `webhooks/big.json: ${tooLarge}`,
    `webhooks/ops.json: secretFile: ${tooLarge}`,
  ]);
});

it('escapes for Slack what Slack reads as its own, by the names that Slack knows', async () => {
  await write('ops.json', { url: url(), format: 'slack', minSeconds: 0 });
  leader = await lead();
  await pass(1000);
  leader.recorder.note({ kind: 'node', node: 'n1', detail: '<!here> & co' });
  await pass(3000);
  expect(received.map(({ body }) => JSON.parse(body))).toEqual([{ text: 'n1 &lt;!here&gt; &amp; co' }]);
});

it('follows no redirect, and shows of an address only its server', async () => {
  await write('ops.json', { url: url(), minSeconds: 0 });
  leader = await lead();
  await pass(1000);
  await leader.notices.test('ops', 'admin');
  expect(received.map(({ body }) => JSON.parse(body))).toMatchObject([
    { text: 'a test of the webhook ops, sent by admin' },
  ]);
  status = 307;
  location = 'http://169.254.169.254/latest';
  crash('aaaaaa');
  await pass(3000);
  await until(() =>
    expect(leader.notices.list()[0]?.problem).toMatch(/^127\.0\.0\.1:\d+ answered with status 307$/),
  );
  const shown = JSON.stringify(leader.notices.list()) + logged.join('');
  expect(shown).toContain('127.0.0.1:');
  expect(shown).not.toMatch(/XyZSecret|hunter22/);
});
