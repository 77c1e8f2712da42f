import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseJoinToken } from '../../../src/channel/trust/join-token.js';
import { joinCluster } from '../../../src/cli/join-command.js';
import { SecretDirectory } from '../../../src/node/secret-files.js';
import { ClusterWorld } from '../../support/cluster/cluster-world.js';
import { FakeClock } from '../../support/fake-clock.js';
import { until } from '../../support/until.js';

const never = new AbortController().signal;

let clock: FakeClock;
let world: ClusterWorld;
let parent: string;
let root: string;

beforeEach(async () => {
  clock = new FakeClock();
  world = new ClusterWorld(clock);
  await world.start();
  parent = mkdtempSync(join(tmpdir(), 'drover-join-'));
  root = join(parent, 'node');
});

afterEach(async () => {
  await world.stop();
  rmSync(parent, { recursive: true, force: true });
});

const run = (token: string, nodeId = 'alpha', port = world.port): Promise<string> =>
  joinCluster(root, token, { master: `127.0.0.1:${port}`, nodeId });

const configuration = (): unknown => JSON.parse(readFileSync(join(root, 'config.json'), 'utf8'));

describe('drover join', () => {
  it('writes what the node needs, and uses the token up only at the start', async () => {
    const token = await world.token({ maxUses: 1 });
    expect(await run(token)).toContain('makes this node alpha, at 127.0.0.1, of the cluster at 127.0.0.1:');
    expect(configuration()).toMatchObject({
      isMasterNode: false,
      masterPort: world.port,
      clusterName: 'test',
      nodeId: 'alpha',
      joinToken: token,
    });
    expect((await world.tokens.list()).map(({ uses }) => uses)).toEqual([0]);
    expect(await world.members.get('alpha')).toBeUndefined();
    expect(world.audit).toEqual([]);
  });

  it.each<[string, RegExp, () => Promise<string>, string?]>([
    [
      'was revoked',
      /^this master does not know the join token: it was revoked/,
      async () => {
        const token = await world.token();
        await world.tokens.revoke(parseJoinToken(token).id);
        return token;
      },
    ],
    [
      'has expired',
      /^join token [0-9a-f]{12} expired 2026-01-01T00:01:00.000Z: make another/,
      async () => {
        const token = await world.token({ expiresInMs: 60_000 });
        clock.jumpWallClock(60_000);
        return token;
      },
    ],
    [
      'was used up by another node',
      /^join token [0-9a-f]{12} was for 1 node: make another/,
      async () => {
        const token = await world.token({ maxUses: 1 });
        const { membership } = await world.member('beta', { token });
        (await membership.connect(never)).close('done');
        return token;
      },
    ],
    [
      'is good, for a name that another node has',
      /^a node alpha has joined already: give this one its own nodeId/,
      async () => {
        await world.node('alpha', { token: await world.token() });
        await until(() => expect(world.isConnected('alpha')).toBe(true));
        return world.token();
      },
    ],
    [
      'is good, for the name of the master',
      /^the master itself is node master/,
      () => world.token(),
      'master',
    ],
    ['is good, for no name at all', /^--node-id must /, () => world.token(), 'no name'],
  ])('refuses a token that %s, and writes nothing', async (_case, message, tokenOf, nodeId) => {
    await expect(run(await tokenOf(), nodeId)).rejects.toMatchObject({
      message: expect.stringMatching(message),
    });
    expect(readdirSync(parent)).toEqual([]);
  });

  it('lets the node join again that has the name already', async () => {
    const token = await world.token({ maxUses: 1 });
    await run(token);
    const files = new SecretDirectory(join(root, 'data', 'cluster'));
    const { files: kept } = await world.node('alpha', { token });
    await until(() => expect(world.isConnected('alpha')).toBe(true));
    await files.file('member.json').write(kept.member.text ?? '');
    expect(await run(await world.token())).toContain('makes this node alpha');
    // A join that was begun and not finished knows its key, too.
    await files.file('member.json').remove();
    const { key } = JSON.parse(kept.member.text ?? '');
    await files.file('joining.json').write(JSON.stringify({ tokenId: parseJoinToken(token).id, key }));
    expect(await run(token)).toContain('makes this node alpha');
  });

  it('says that no master answers, and writes nothing', async () => {
    const token = await world.token();
    const { port } = world;
    await world.server.stop();
    await expect(run(token, 'alpha', port)).rejects.toMatchObject({
      message: expect.stringContaining('connection refused'),
    });
    expect(existsSync(root)).toBe(false);
  });
});
