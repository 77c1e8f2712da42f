/** The dashboard at `/ui/`: what is served, in which form, with which headers, and what is not. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { brotliCompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ApiWorld } from '../../support/api/api-world.js';

const SCRIPT = 'assets/main-Ab12Cd34.js';
const TEXT = 'console.log("dashboard");'.repeat(50);
const PAGE = `<!doctype html><html><head><title>Drover</title></head><body><script src="/ui/${SCRIPT}"></script></body></html>`;

let directory: string;
const worlds: ApiWorld[] = [];

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'drover-dashboard-'));
  mkdirSync(join(directory, 'assets'));
  const put = (name: string, content: string | Buffer) => writeFileSync(join(directory, name), content);
  put('index.html', PAGE);
  put('icon.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>');
  put(SCRIPT, TEXT);
  put(`${SCRIPT}.br`, brotliCompressSync(TEXT));
  put(`${SCRIPT}.gz`, gzipSync(TEXT));
});
afterAll(() => rmSync(directory, { recursive: true }));
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.stop();
});

async function start(options: ConstructorParameters<typeof ApiWorld>[0] = { dashboard: directory }) {
  const world = await new ApiWorld(options).start();
  worlds.push(world);
  await world.server.start();
  return world;
}

/** As a browser gets it: nothing is followed or unpacked. */
async function get(world: ApiWorld, path: string, headers: Record<string, string> = {}, method = 'GET') {
  const { port } = world.server.address ?? {};
  const response = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, method, headers }, resolve).on('error', reject).end();
  });
  return { status: response.statusCode, headers: response.headers, bytes: await buffer(response) };
}

describe('the dashboard', () => {
  it('is what / leads to, also without a slash, with an address that a proxy may put a prefix before', async () => {
    const world = await start();
    for (const path of ['/', '/ui', '/ui?x=/']) {
      const { status, headers } = await get(world, path);
      expect([path, status, headers.location]).toEqual([path, 302, 'ui/']);
    }
  });

  it('shows its page under every address, each time with another nonce, and lets it load from here only', async () => {
    const world = await start();
    const nonces = new Set<string>();
    for (const path of [
      '/ui/',
      '/ui/instances/ab12cd',
      '/ui/templates/a/b.c?tab=x',
      '/ui/..%2f..%2fpackage.json',
    ]) {
      const { status, headers, bytes } = await get(world, path);
      const page = bytes.toString();
      expect([path, status, headers['content-type']]).toEqual([path, 200, 'text/html; charset=utf-8']);
      const [, nonce = ''] = /<meta property="csp-nonce" nonce="([^"]{16,})"><\/head>/.exec(page) ?? [];
      expect(page.replace(/<meta [^>]*>/, '')).toBe(PAGE);
      nonces.add(nonce);
      const policy = String(headers['content-security-policy']);
      expect(policy.split('; ')).toEqual([
        "default-src 'none'",
        "script-src 'self'",
        `style-src 'self' 'nonce-${nonce}'`,
        "connect-src 'self'",
        "img-src 'self'",
        "font-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
      ]);
      expect(headers).toMatchObject({
        'cache-control': 'no-cache',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      });
    }
    expect(nonces.size).toBe(4);
  });

  it('sends a file with a hash in its name in the smallest form that the browser takes, for ever', async () => {
    const world = await start();
    const forms = [
      ['gzip, deflate, br', 'br', brotliCompressSync(TEXT)],
      ['gzip, br;q=0', 'gzip', gzipSync(TEXT)],
      ['deflate', undefined, Buffer.from(TEXT)],
    ] as const;
    const etags = new Set<string | undefined>();
    for (const [accepted, coding, bytes] of forms) {
      const answer = await get(world, `/ui/${SCRIPT}`, { 'accept-encoding': accepted });
      expect([answer.status, answer.headers['content-encoding'], answer.headers['cache-control']]).toEqual([
        200,
        coding,
        'public, max-age=31536000, immutable',
      ]);
      expect(answer.bytes.equals(bytes)).toBe(true);
      expect(answer.headers).toMatchObject({
        'content-type': 'text/javascript; charset=utf-8',
        vary: 'accept-encoding',
        'x-content-type-options': 'nosniff',
      });
      etags.add(answer.headers.etag);
      const head = await get(world, `/ui/${SCRIPT}`, { 'accept-encoding': accepted }, 'HEAD');
      expect([head.status, head.headers['content-length'], head.bytes.length]).toEqual([
        200,
        String(bytes.length),
        0,
      ]);
      const same = { 'accept-encoding': accepted, 'if-none-match': `"other", ${answer.headers.etag}` };
      const known = await get(world, `/ui/${SCRIPT}`, same);
      expect([known.status, known.bytes.length, known.headers.etag]).toEqual([304, 0, answer.headers.etag]);
    }
    expect(etags.size).toBe(3);
    expect(gunzipSync(gzipSync(TEXT)).toString()).toBe(TEXT);
  });

  it('has a browser ask again for other files, and serves neither copies nor what is missing', async () => {
    const world = await start();
    const icon = await get(world, '/ui/icon.svg');
    expect([icon.headers['cache-control'], icon.headers['content-type']]).toEqual([
      'no-cache',
      'image/svg+xml',
    ]);
    const gone = await get(world, '/ui/assets/main-old00000.js');
    expect([gone.status, gone.headers['cache-control']]).toEqual([404, 'no-store']);
    expect((await get(world, `/ui/${SCRIPT}.gz`)).status).toBe(404);
    const { status, headers } = await get(world, '/ui/', {}, 'POST');
    expect([status, headers.allow]).toEqual([401, undefined]);
  });

  it('keeps what it served first when a build replaces the files', async () => {
    const copy = mkdtempSync(join(tmpdir(), 'drover-dashboard-'));
    try {
      writeFileSync(join(copy, 'index.html'), PAGE);
      const world = await start({ dashboard: copy });
      await get(world, '/ui/');
      writeFileSync(join(copy, 'index.html'), PAGE.replace('Drover', 'Other'));
      expect((await get(world, '/ui/')).bytes.toString()).toContain('<title>Drover</title>');
    } finally {
      rmSync(copy, { recursive: true });
    }
  });

  it.each([
    [
      'is turned off',
      { dashboard: '', configuration: { dashboard: false } },
      'turned off: "dashboard" is false',
    ],
    ['is not in the build', {}, 'this build of Drover has no dashboard'],
  ])('says that it %s', async (_what, options, said) => {
    const world = await start(options);
    for (const path of ['/', '/ui/', '/ui/instances/x', `/ui/${SCRIPT}`]) {
      const { status, bytes } = await get(world, path);
      expect([status, JSON.parse(bytes.toString()).error]).toEqual([404, expect.stringContaining(said)]);
    }
    const refused = await world.call('POST', '/sessions/codes', {});
    expect([refused.status, await refused.text()]).toEqual([404, expect.stringContaining(said.slice(0, 10))]);
  });
});
