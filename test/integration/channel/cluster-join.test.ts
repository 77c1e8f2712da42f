/** Joining a cluster over real TLS: who is let in, with what, and what both sides say of who is not. */
import { X509Certificate } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Transport } from '../../../src/channel/protocol/transport.js';
import { formatJoinToken, parseJoinToken } from '../../../src/channel/trust/join-token.js';
import { HELLO } from '../../support/channel/messages.js';
import { MemoryFile, testAuthority } from '../../support/cluster/cluster-files.js';
import { ClusterWorld, emptyFiles, type TestMemberOptions } from '../../support/cluster/cluster-world.js';
import { FakeClock } from '../../support/fake-clock.js';
import { until } from '../../support/until.js';

const YEAR_MS = 365 * 86_400_000;
const never = new AbortController().signal;

describe('joining a cluster', () => {
  let clock: FakeClock;
  let world: ClusterWorld;

  beforeEach(async () => {
    clock = new FakeClock();
    world = new ClusterWorld(clock);
    await world.start();
  });

  afterEach(() => world.stop());

  /** Instances of `lobby`, until all are ONLINE there. */
  const runOnAlpha = async (count: number): Promise<void> => {
    await world.plane.putConfiguration({
      name: 'lobby',
      runtime: 'process',
      command: 'run',
      minimumServiceCount: count,
    });
    await until(async () => {
      await clock.advance(50);
      expect(world.plane.describe()).toEqual(Array(count).fill('lobby ONLINE - alpha:-'));
    });
  };

  const connect = async (nodeId: string, options: TestMemberOptions): Promise<Transport> =>
    (await world.member(nodeId, options)).membership.connect(never);

  const refusalOf = (nodeId: string, options: TestMemberOptions): Promise<unknown> =>
    connect(nodeId, options).then(
      () => expect.fail('it was let in'),
      (error: unknown) => error,
    );

  /** A credential of this node, as its first connection leaves it. */
  const join = async (nodeId: string) => {
    const files = emptyFiles();
    (await connect(nodeId, { token: await world.token(), files })).close('done');
    return files;
  };

  it('lets a node in with a token once, and from then on by its own certificate', async () => {
    const { files } = await world.node('alpha', { token: await world.token() });
    await until(() => expect(world.isConnected('alpha')).toBe(true));
    expect(world.joined).toEqual(['alpha']);
    expect(world.audit).toEqual([
      { key: null, action: 'join', subject: 'alpha', address: '127.0.0.1', result: 'ok' },
    ]);
    expect(world.said).toContain('node alpha has joined the cluster');
    expect(files.joining.text).toBeUndefined();
    // The token is not needed, nor known, any more.
    for (const { id } of await world.tokens.list()) await world.tokens.revoke(id);
    await world.plane.nodes.get('alpha')?.wrapper.stop();
    await until(() => expect(world.isConnected('alpha')).toBe(false));
    const node = world.plane.nodes.get('alpha') ?? expect.fail('there is no node');
    await world.member('alpha', { files });
    await world.plane.replaceWrapper(node);
    await until(() => expect(world.isConnected('alpha')).toBe(true));
    expect(world.joined).toEqual(['alpha']);
  });

  it('runs instances on a node that joined, and hears of them', async () => {
    await world.node('alpha', { token: await world.token() });
    await until(() => expect(world.isConnected('alpha')).toBe(true));
    await runOnAlpha(3);
  });

  it.each<[string, string | null, (world: ClusterWorld) => Promise<string>, RegExp]>([
    [
      'was revoked',
      null,
      async (world) => {
        const token = await world.token();
        await world.tokens.revoke(parseJoinToken(token).id);
        return token;
      },
      /^this master does not know the join token: it was revoked, or is another one's; make another with "drover token"/,
    ],
    [
      'has another secret',
      null,
      async (world) => {
        const token = parseJoinToken(await world.token());
        return formatJoinToken({ ...token, secret: 'A'.repeat(27) });
      },
      /^this master does not know the join token/,
    ],
    [
      'has expired',
      null,
      async (world) => {
        const token = await world.token({ expiresInMs: 60_000 });
        clock.jumpWallClock(60_000);
        return token;
      },
      /^join token [0-9a-f]{12} expired 2026-01-01T00:01:00.000Z: make another with "drover token"/,
    ],
    [
      'was for one node',
      'alpha',
      async (world) => {
        const token = await world.token({ maxUses: 1 });
        (await connect('beta', { token })).close('done');
        return token;
      },
      /^join token [0-9a-f]{12} was for 1 node: make another/,
    ],
  ])('refuses a token that %s, and both sides say so', async (_case, subject, tokenOf, message) => {
    const token = await tokenOf(world);
    expect(await refusalOf('alpha', { token })).toMatchObject({
      code: 'DRV_JOIN_REFUSED',
      message: expect.stringMatching(message),
    });
    await until(() =>
      expect(world.said.at(-1)).toMatch(/^refused a connection to the cluster port from 127/),
    );
    expect(world.said.join('\n')).not.toContain(parseJoinToken(token).secret);
    // Without a good token nothing that the stranger wrote is repeated.
    expect(world.audit.at(-1)).toMatchObject({ action: 'join', subject, result: 'failed' });
    expect(await world.members.get('alpha')).toBeUndefined();
  });

  it('refuses a token for good that it has once refused as expired, when the clock is set back', async () => {
    const token = await world.token({ expiresInMs: 60_000 });
    clock.jumpWallClock(60_000);
    const refused = { message: expect.stringMatching(/^join token [0-9a-f]{12} expired 2026-01-01T00:01/) };
    expect(await refusalOf('alpha', { token })).toMatchObject(refused);
    clock.jumpWallClock(-60_000);
    expect(await refusalOf('alpha', { token })).toMatchObject(refused);
  });

  it('refuses another cluster name, the name of the master, and one that a node has', async () => {
    const token = await world.token();
    await world.node('beta', { token });
    await until(() => expect(world.isConnected('beta')).toBe(true));
    expect(await refusalOf('alpha', { token, clusterName: 'prod' })).toMatchObject({
      message:
        "this master's cluster is test, node alpha asks for prod: check clusterName in its config.json",
    });
    expect(await refusalOf('master', { token })).toMatchObject({
      message: 'the master itself is node master: give the other node its own nodeId',
    });
    expect(await refusalOf('beta', { token })).toMatchObject({
      message: expect.stringMatching(/^a node beta has joined already: .* run "cluster forget beta"/),
    });
  });

  it('sends nothing to a master of another authority', async () => {
    const stranger = await testAuthority(clock).ensure();
    const token = { ...parseJoinToken(await world.token()), fingerprint: stranger.fingerprint };
    expect(await refusalOf('alpha', { token: formatJoinToken(token) })).toMatchObject({
      code: 'DRV_JOIN_REFUSED',
      message: expect.stringMatching(
        /^what answers at 127.0.0.1:\d+ is not the master of the join token's cluster/,
      ),
    });
    expect(world.audit).toEqual([]);
  });

  it('gives the same node the same answer again when the first one was lost', async () => {
    const token = await world.token({ maxUses: 1 });
    const files = emptyFiles();
    // The master has admitted it; the credential did not reach the disk.
    files.member.write = async () => {
      throw new Error('the disk is full');
    };
    expect(await refusalOf('alpha', { token, files })).toMatchObject({ message: 'the disk is full' });
    const again = { member: new MemoryFile('member.json'), joining: files.joining };
    (await connect('alpha', { token, files: again })).close('done');
    expect((await world.tokens.list()).map(({ uses }) => uses)).toEqual([1]);
  });

  it('asks for a token when there is neither one nor a credential', async () => {
    await expect(world.member('alpha', {})).rejects.toMatchObject({
      code: 'DRV_NODE_CONFIG_INVALID',
      message: expect.stringMatching(/has not joined the master at .* yet: run "drover token" on the master/),
    });
  });

  it('says that nobody listens', async () => {
    const token = await world.token();
    const { port } = world;
    await world.server.stop();
    expect(await refusalOf('alpha', { token, port })).toMatchObject({
      code: 'DRV_CHANNEL_CLOSED',
      message: `127.0.0.1:${port} cannot be used: connection refused (ECONNREFUSED)`,
    });
  });

  it('refuses a certificate that has ended by the clock of the master', async () => {
    const files = await join('alpha');
    clock.jumpWallClock(YEAR_MS + 1000);
    expect(await refusalOf('alpha', { files })).toMatchObject({
      // The clock of the master may be wrong, and be set right.
      code: 'DRV_CHANNEL_CLOSED',
      message: expect.stringMatching(
        /^the certificate of node alpha ended 2027-01-01, and by this master's clock it is 2027-01-01: run/,
      ),
    });
  });

  it('does not care for the clock of a node, nor for that of the machine', async () => {
    const past = new ClusterWorld(new FakeClock({ startAt: Date.UTC(2008, 0, 1) }));
    await past.start();
    try {
      const { membership } = await past.member('alpha', { token: await past.token() });
      const transport = await membership.connect(never);
      expect(transport.isOpen).toBe(true);
      transport.close('done');
    } finally {
      await past.stop();
    }
  });

  it('puts a forgotten node out at once, and lets it in again only with another token', async () => {
    const token = await world.token();
    const { files, node } = await world.node('alpha', { token });
    await until(() => expect(world.isConnected('alpha')).toBe(true));
    await world.plane.master.nodeWriter.forget('alpha', { force: true });
    await until(() => expect(world.isConnected('alpha')).toBe(false));
    expect(await refusalOf('alpha', { token, files })).toMatchObject({
      message: 'node alpha is not a member any more (cluster forget): join it again with a new token',
    });
    await node.wrapper.stop();
    await world.member('alpha', { token: await world.token(), files });
    await world.plane.replaceWrapper(node);
    await until(() => expect(world.isConnected('alpha')).toBe(true));
    expect(world.joined).toEqual(['alpha', 'alpha']);
  });

  it.each<[string, { keepToken?: boolean; maxUses?: number }, string | undefined, RegExp | undefined]>([
    ['by the token that let many in, which ends', {}, 'its', /^this master does not know the join token/],
    ['by the token that let it in alone', { maxUses: 1 }, undefined, /^join token .* was for 1 node/],
    ['unless the token was to be kept', { keepToken: true }, 'its', undefined],
  ])(
    'does not let a forgotten node in again %s',
    async (_how, { keepToken = false, maxUses = null }, ended, refusal) => {
      const token = await world.token({ maxUses });
      const { id } = parseJoinToken(token);
      await world.node('alpha', { token });
      await until(() => expect(world.isConnected('alpha')).toBe(true));
      const forgotten = await world.plane.master.nodeWriter.forget('alpha', { force: true, keepToken });
      expect(forgotten.token).toBe(ended === undefined ? undefined : id);
      await until(() => expect(world.isConnected('alpha')).toBe(false));
      // Its disk is new.
      if (refusal === undefined) (await connect('alpha', { token })).close('done');
      else
        expect(await refusalOf('alpha', { token })).toMatchObject({
          message: expect.stringMatching(refusal),
        });
    },
  );

  it('counts another machine that takes the name of one that never came', async () => {
    const token = await world.token({ maxUses: 1 });
    (await connect('alpha', { token })).close('done');
    expect(await refusalOf('alpha', { token })).toMatchObject({
      message: expect.stringMatching(/^join token .* was for 1 node/),
    });
    const other = await world.token({ maxUses: 1 });
    (await connect('alpha', { token: other })).close('done');
    expect((await world.tokens.list()).map(({ uses }) => uses)).toEqual([1, 1]);
  });

  it('ends a forgotten node on which nothing runs, and lets one that has instances look after them', async () => {
    await world.node('alpha', { token: await world.token() });
    await until(() => expect(world.isConnected('alpha')).toBe(true));
    await runOnAlpha(1);
    await world.node('beta', { token: await world.token() });
    await until(() => expect(world.isConnected('beta')).toBe(true));
    await world.plane.removeConfiguration('lobby');
    for (const name of ['alpha', 'beta']) await world.plane.master.nodeWriter.forget(name, { force: true });
    const reason = 'is not a member any more (cluster forget): join it again with a new token';
    await until(async () => {
      await clock.advance(1000);
      expect(world.ended).toEqual([`beta: node beta ${reason}`]);
      expect(world.said.join('\n')).toContain(
        `the master refused this node: node alpha ${reason}; what it was told`,
      );
    });
    const { runtime } = world.plane.nodes.get('alpha') ?? expect.fail('there is no node');
    const { instanceId = '' } = runtime.starts[0] ?? {};
    runtime.end(instanceId, { code: 1, signal: null });
    await until(async () => {
      await clock.advance(100);
      expect(runtime.starts).toHaveLength(2);
    });
  });

  it('refuses the certificate of another cluster, at the node by its file and at the master', async () => {
    const other = new ClusterWorld(clock);
    await other.start();
    try {
      const { files } = await other.member('alpha', { token: await other.token() });
      (await other.membership('alpha').connect(never)).close('done');
      const credential = JSON.parse(files.member.text ?? '');
      const { certificate: authority } = await world.authority.ensure();
      await files.member.write(JSON.stringify({ ...credential, authority: authority.toString() }));
      expect(await refusalOf('alpha', { files })).toMatchObject({
        code: 'DRV_NODE_ROOT_UNUSABLE',
        message: expect.stringMatching(/member\.json/),
      });
      const foreign = new X509Certificate(credential.certificate);
      await expect(world.members.identify(foreign)).rejects.toThrow(
        'the certificate is not one of this cluster',
      );
    } finally {
      await other.stop();
    }
  });

  it('takes a node of another cluster over with a token of this one', async () => {
    const other = new ClusterWorld(clock);
    await other.start();
    const { files } = await other.member('alpha', { token: await other.token() });
    (await other.membership('alpha').connect(never)).close('done');
    await other.stop();
    (await connect('alpha', { token: await world.token(), files })).close('done');
    expect(world.joined).toEqual(['alpha']);
  });

  it('lets a node act under its own name only', async () => {
    const transport = await connect('alpha', { token: await world.token() });
    const heard: unknown[] = [];
    transport.onFrame(({ message }) => heard.push(message));
    transport.send({
      type: 'hello',
      protocol: 1,
      nodeId: 'beta',
      clusterName: 'test',
      address: '10.0.0.2',
      version: '1.2.3',
      capacity: { maxRamMB: 100, maxCpu: 200 },
      runtimes: [],
    });
    await until(() => expect(transport.isOpen).toBe(false));
    expect(heard).toEqual([
      {
        type: 'refused',
        reason: 'node alpha calls itself beta: its certificate is for alpha alone',
        isFinal: true,
      },
    ]);
  });

  it('refuses a second node of one name while the first lives', async () => {
    const { files } = await world.node('alpha', { token: await world.token() });
    await until(() => expect(world.isConnected('alpha')).toBe(true));
    const copy = await connect('alpha', { files });
    const closed = new Promise<string>((resolve) => copy.onClose(resolve));
    copy.onFrame(() => undefined);
    copy.send(HELLO);
    expect(await closed).toMatch(/^a node with nodeId alpha is connected already/);
    expect(world.isConnected('alpha')).toBe(true);
  });
});
