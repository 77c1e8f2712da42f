/** A TypeScript client that a generator makes of `manifests/openapi.json`: it compiles, strictly, and works against a node. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { generateApi } from 'swagger-typescript-api';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DOCUMENT_FILE } from '../../support/api/openapi-check.js';
import { DaemonWorld } from '../../support/daemon/daemon.js';

const run = promisify(execFile);
const TYPESCRIPT = join(
  dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
  'bin/tsc',
);

const TSCONFIG = {
  compilerOptions: {
    target: 'ES2022',
    lib: ['ES2022', 'DOM', 'DOM.Iterable'],
    module: 'NodeNext',
    types: [],
    strict: true,
    noUncheckedIndexedAccess: true,
  },
  files: ['program.ts'],
};

/** What a user of the client would write; prints one JSON line for each thing it saw. */
const PROGRAM = `
import { Api, type ApiError, type ConfigurationInput, type Instance } from './client.js';

declare const process: { readonly argv: readonly string[] };
const [, , baseUrl = '', key = ''] = process.argv;
const api = new Api({ baseUrl, baseApiParams: { headers: { Authorization: 'Bearer ' + key } } });
const print = (what: string, value: unknown) => console.log(JSON.stringify([what, value]));
const refusal = async (call: Promise<{ readonly status: number; readonly error: ApiError }>) => {
  const answer = await call.catch((error: { readonly status: number; readonly error: ApiError }) => error);
  return [answer.status, typeof answer.error.error];
};

print('ping', (await api.ping.ping()).data.status);

const configuration: ConfigurationInput = {
  name: 'made', runtime: 'process', command: 'sleep 1000', ramMB: 16, cpu: 1, minimumServiceCount: 0,
};
print('put', (await api.configurations.putConfiguration('made', configuration)).status);
print('configuration', (await api.configurations.getConfiguration('made')).data.static);

const made: Instance = (await api.instances.createInstance({ configurationName: 'made' })).data;
print('made', made.configurationName);
print('got', (await api.instances.getInstance(made.id)).data.id === made.id);
print('listed', (await api.instances.listInstances()).data.map((instance) => instance.configurationName));
print('deleted', (await api.instances.deleteInstance(made.id)).data.instanceId === made.id);

// The generator types all bytes as File; text is what its client can send.
const content = 'hello from a generated client';
const upload = () =>
  api.templates.createTemplateFile('games', 'lobby', 'notes/a b.txt', content as unknown as File);
print('uploaded', (await upload()).status);
print('read', (await api.templates.readTemplateFile('games', 'lobby', 'notes/a b.txt', { format: 'text' })).data === content);
print('files', (await api.templates.listTemplateFiles('games', 'lobby')).data.files);

print('conflict', await refusal(upload()));
print('unknown', await refusal(api.instances.getInstance('zzzzzz')));
print('wrong', await refusal(api.instances.createInstance({ configurationName: 'nope' })));
const stranger = new Api({ baseUrl });
print('stranger', await refusal(stranger.instances.listInstances()));
`;

let daemon: DaemonWorld;
let directory: string;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'drover-client-'));
  daemon = await DaemonWorld.create();
  await daemon.start();
});
afterAll(async () => {
  rmSync(directory, { recursive: true, force: true });
  await daemon.finish({ isFailed: false });
});

it('compiles and works: list, create, get, put a configuration, upload and read a file, errors', async () => {
  await generate();
  await run(process.execPath, [TYPESCRIPT, '-p', directory], { cwd: directory }).catch(({ stdout }) => {
    throw new Error(`the client does not compile:\n${stdout}`);
  });
  const key = readFileSync(daemon.paths.adminKey, 'utf8').trim();
  const url = `http://127.0.0.1:${daemon.apiPort}/api`;
  const { stdout } = await run(process.execPath, [join(directory, 'program.js'), url, key]);
  expect(
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual([
    ['ping', 'ok'],
    ['put', 204],
    ['configuration', false],
    ['made', 'made'],
    ['got', true],
    ['listed', ['made']],
    ['deleted', true],
    ['uploaded', 201],
    ['read', true],
    ['files', ['notes/a b.txt']],
    ['conflict', [409, 'string']],
    ['unknown', [404, 'string']],
    ['wrong', [400, 'string']],
    ['stranger', [401, 'string']],
  ]);
});

async function generate(): Promise<void> {
  await generateApi({ input: DOCUMENT_FILE, output: directory, fileName: 'client.ts', silent: true });
  const file = join(directory, 'client.ts');
  // The generator tells the compiler to look away; here it must look.
  writeFileSync(file, readFileSync(file, 'utf8').replace('// @ts-nocheck', ''));
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(TSCONFIG));
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
  writeFileSync(join(directory, 'program.ts'), PROGRAM);
}
