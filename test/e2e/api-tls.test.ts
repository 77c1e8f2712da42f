/** The API over TLS as an operator and as programs see it: certificates, instances on both kinds of node, renewal. */
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KeyPair } from '../../src/channel/trust/certificates.js';
import { OperatorAuthority } from '../support/api/tls.js';
import { drover, Member } from '../support/cluster/member.js';
import { DaemonWorld, failedOf } from '../support/daemon/daemon.js';
import { until } from '../support/until.js';

/** Reports its own state as any program does, with what its environment says. */
const REPORTER = `
const { request } = require('node:https');
const { DROVER_API_URL: url, DROVER_API_CA: ca, DROVER_API_KEY: key, DROVER_INSTANCE_ID: id } = process.env;
const call = request(url + '/instances/' + id + '/state', {
  method: 'PUT',
  ...(ca && { ca: require('node:fs').readFileSync(ca) }),
  headers: { authorization: 'Bearer ' + key, 'content-type': 'application/json' },
}, (response) => console.log('told', url, ca, response.statusCode));
call.on('error', (error) => console.log('failed', error.message));
call.end(JSON.stringify({ state: 'ONLINE' }));
setInterval(() => undefined, 1000);
`;

describe('a certificate of the cluster', () => {
  let world: DaemonWorld;
  let member: Member;
  beforeEach(async () => {
    const settings = { apiTls: 'cluster', apiNames: ['api.example', '10.9.8.7'], nodeTimeoutMs: 120_000 };
    world = await DaemonWorld.create({ settings });
    member = await Member.create();
  });
  afterEach(async ({ task }) => {
    if (failedOf(task).isFailed) console.log(`--- member\n${member.output}`);
    await member.finish();
    await world.finish(failedOf(task));
  });

  it('serves the operator, the program itself, and instances of the master and of other nodes', async () => {
    await world.start();
    const url = `https://127.0.0.1:${world.apiPort}/api`;
    await until(() => expect(world.daemon.stdout).toContain(`API      ${url}`));
    expect(statSync(world.paths.apiAuthority).mode & 0o777).toBe(0o644);
    const ca = readFileSync(world.paths.apiAuthority, 'utf8');
    for (const servername of ['api.example', 'localhost', 'node-a', '']) {
      const socket = connect({ host: '127.0.0.1', port: world.apiPort, ca, servername });
      await once(socket, 'secureConnect');
      const certificate = socket.getPeerX509Certificate();
      expect(certificate?.checkIP('10.9.8.7')).toBe('10.9.8.7');
      expect(world.daemon.stdout).toContain(`SHA-256 ${certificate?.issuerCertificate?.fingerprint256}`);
      socket.destroy();
    }

    const [token = ''] = (await drover('token', '--root', world.root, '--uses', '1')).split('\n');
    await member.join(token, `127.0.0.1:${world.apiPort + 1}`, 'far');
    member.start();
    world.template('group', 'reporter', { 'reporter.cjs': REPORTER });
    const service = {
      command: `${process.execPath} reporter.cjs`,
      minimumServiceCount: 1,
      templateInstallationConfig: { allOf: [{ group: 'group', name: 'reporter' }] },
    };
    world.configure('near', { ...service, nodes: ['node-a'] });
    world.configure('far', { ...service, nodes: ['far'] });
    for (const [name, paths] of [
      ['near', world.paths],
      ['far', member.paths],
    ] as const) {
      const [instance] = await world.untilOnline(name, 1);
      const line = await world.untilLogged(instance?.id ?? '', /^(told|failed) /);
      expect(line).toBe(`told ${url} ${paths.apiAuthority} 200`);
    }
    const { text } = await world.api.send('POST', '/commands/execute', { command: 'node info -o json' });
    expect(JSON.parse(JSON.parse(text).output)).toMatchObject({
      apiCertificate: { source: 'cluster', names: expect.arrayContaining(['api.example']), problem: null },
    });
    if (process.getuid?.() === 0) {
      chmodSync(world.root, 0o755);
      const command = 'cat "$DROVER_API_CA" && echo read; exec sleep 1000';
      world.configure('other', { command, nodes: ['node-a'], runAs: '12345:12346' });
      const [other] = await world.untilOnline('other', 1);
      await world.untilLogged(other?.id ?? '', /^read$/);
    }
    await world.kill('SIGTERM');
    writeFileSync(world.paths.apiAuthority, (await OperatorAuthority.create()).ca);
    await world.start();
    // The start has put the right one back.
    expect(readFileSync(world.paths.apiAuthority, 'utf8')).toBe(ca);

    await world.api.removeConfiguration('far');
    for (const { id } of await world.api.instances('far')) await world.api.remove(id);
    await until(async () => expect(await world.api.instances('far')).toEqual([]));
  });
});

describe('the certificate of a master whose clock goes on by 500 days', () => {
  let world: DaemonWorld;
  beforeEach(async () => {
    world = await DaemonWorld.create({ settings: { apiTls: 'cluster' } });
  });
  afterEach(({ task }) => world.finish(failedOf(task)));

  it('is renewed without a restart, and clients with the right time go on', async () => {
    const preload = join(world.root, 'clock.mjs');
    const sign = join(world.root, 'leap');
    writeFileSync(
      preload,
      `import { existsSync } from 'node:fs';
      const now = Date.now;
      let isLater = false;
      Date.now = () => now() + ((isLater ||= existsSync(${JSON.stringify(sign)})) ? 500 * 86400000 : 0);`,
    );
    await world.start({ preload });
    const ca = readFileSync(world.paths.apiAuthority, 'utf8');
    const shown = async (): Promise<string | undefined> => {
      const socket = connect({ host: '127.0.0.1', port: world.apiPort, ca, maxVersion: 'TLSv1.2' });
      await once(socket, 'secureConnect');
      const { serialNumber } = socket.getPeerX509Certificate() ?? {};
      socket.destroy();
      return serialNumber;
    };
    const before = await shown();
    expect(before).toMatch(/^[0-9A-F]{32}$/);
    writeFileSync(sign, '');
    await until(async () => expect(await shown()).not.toBe(before));
    expect(await drover('token', '--root', world.root)).toMatch(/^\S+\n/);
  });
});

describe('a certificate in files', () => {
  let directory: string;
  let operator: OperatorAuthority;
  let world: DaemonWorld;
  const write = ({ certificate, key }: KeyPair): void => {
    writeFileSync(join(directory, 'a.pem'), certificate);
    writeFileSync(join(directory, 'a.key'), key, { mode: 0o600 });
  };
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'drover-tls-'));
    operator = await OperatorAuthority.create();
    writeFileSync(join(directory, 'ca.pem'), operator.ca);
    const apiTls = { certificate: join(directory, 'a.pem'), key: join(directory, 'a.key') };
    world = await DaemonWorld.create({ settings: { apiTls }, authorityFile: join(directory, 'ca.pem') });
  });
  afterEach(async ({ task }) => {
    await world.finish(failedOf(task));
    rmSync(directory, { recursive: true, force: true });
  });

  const shown = async (): Promise<string | undefined> => {
    const socket = connect({ host: '127.0.0.1', port: world.apiPort, ca: operator.ca });
    await once(socket, 'secureConnect');
    const serial = socket.getPeerX509Certificate()?.serialNumber;
    socket.destroy();
    return serial;
  };

  it('is needed for a start, is renewed without one, and serves "drover token" too', async () => {
    const refused = world.spawn();
    expect(await refused.ended).toMatchObject({ code: 1 });
    expect(refused.stderr).toMatch(/config\.json: apiTls\.certificate: .*a\.pem cannot be read/);
    write(await operator.pair());
    await world.start();
    const first = await shown();
    expect(await drover('token', '--root', world.root)).toMatch(/^\S+\n/);
    write(await operator.pair());
    await until(async () => expect(await shown()).not.toBe(first));
    expect(await drover('token', '--root', world.root)).toMatch(/^\S+\n/);
    // The server goes on with what it has; the program refuses to give the key to one that shows something else.
    const { certificate } = await operator.pair();
    writeFileSync(join(directory, 'a.pem'), certificate);
    await expect(drover('token', '--root', world.root)).rejects.toThrow(
      /its certificate is not of an authority in .*a\.pem: another server answers, or the file is old/,
    );
    await until(async () => {
      const { text } = await world.api.send('POST', '/commands/execute', { command: 'cluster status' });
      expect(text).toMatch(/TLS of the API +Certificate +config\.json: apiTls\.key: /);
    });
  });
});

describe('no TLS', () => {
  let world: DaemonWorld;
  afterEach(({ task }) => world.finish(failedOf(task)));

  it.each([
    ['beyond loopback is warned of, once', '0.0.0.0', 1],
    ['on loopback is not', '127.0.0.1', 0],
  ])('%s', async (_what, bindAddress, warnings) => {
    world = await DaemonWorld.create({ settings: { bindAddress } });
    await world.start();
    await until(() => expect(world.daemon.stdout).toContain('  API      http://'));
    expect(world.daemon.stdout.split('travel in clear').length - 1).toBe(warnings);
  });
});
