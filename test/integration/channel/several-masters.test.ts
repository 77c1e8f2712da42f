/** A node that asks a master which does not lead: it hears who leads, and joins and connects there. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ClusterServer } from '../../../src/channel/master/cluster-server.js';
import { Admission } from '../../../src/channel/trust/admission.js';
import { joinCluster } from '../../../src/cli/join-command.js';
import { SystemClock } from '../../../src/loop/system-clock.js';
import { testAuthority } from '../../support/cluster/cluster-files.js';
import { ClusterWorld } from '../../support/cluster/cluster-world.js';
import { freePorts } from '../../support/free-ports.js';
import { FakeElection } from '../../support/masters/fake-leadership.js';
import { until } from '../../support/until.js';

let world: ClusterWorld;
let election: FakeElection;
let follower: ClusterServer;
/** Connections of nodes that the follower has taken for its own. */
let taken: string[];

beforeEach(async () => {
  const clock = new SystemClock();
  world = new ClusterWorld(clock);
  await world.start();
  await world.authority.ensure();
  election = new FakeElection();
  taken = [];
  const authority = testAuthority(clock, { authorityFile: world.files.authority, nodeId: 'm2' });
  await authority.open();
  const { store, tokens, members } = world;
  const audit = { record: () => undefined };
  const logger = pino({ level: 'silent' });
  const shares = { store, authority, tokens, clock, audit, logger };
  follower = new ClusterServer({
    host: '127.0.0.1',
    port: 0,
    api: { address: '127.0.0.1', port: 7000, hasTls: false },
    authority,
    admission: new Admission({ ...shares, clusterName: 'test', masterNodeId: 'm2' }),
    members,
    audit,
    accept: (transport, { nodeId }) => {
      taken.push(nodeId);
      transport.close('this test has no second hub');
    },
    leadership: election.as('m2'),
    silenceMs: 6000,
    clock,
    logger,
  });
  await follower.start();
  follower.open();
});

afterEach(async () => {
  await follower.stop();
  await world.stop();
});

const lead = (): void => election.lead({ nodeId: 'master', clusterAddress: `127.0.0.1:${world.port}` });

describe('a node whose contact does not lead', () => {
  it('joins and connects where the leader is', async () => {
    lead();
    await world.node('alpha', { token: await world.token(), port: follower.port ?? 0 });
    await until(() => expect(world.isConnected('alpha')).toBe(true));
    expect(world.audit).toMatchObject([{ action: 'join', subject: 'alpha' }]);
    expect(taken).toEqual([]);
  });

  it('waits while nobody leads, and connects when somebody does', async () => {
    const { membership, files } = await world.member('alpha', { token: await world.token() });
    (await membership.connect(new AbortController().signal)).close('joined');
    await world.node('alpha', { files, port: follower.port ?? 0 });
    await until(() => expect(world.said.join('\n')).toContain('no master leads at this moment'));
    lead();
    await until(() => expect(world.isConnected('alpha')).toBe(true));
    expect(taken).toEqual([]);
  });
});

describe('drover join during an election', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'drover-join-'));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const WAITS = 'no master leads at this moment: trying again for 15 s';
  const configuration = (): unknown => JSON.parse(readFileSync(join(root, 'config.json'), 'utf8'));
  /** Joins; `onWait` is called when it says that it waits. */
  const joinBy = async (onWait: () => void): Promise<string[]> => {
    const said: string[] = [];
    await joinCluster(root, await world.token(), {
      master: `127.0.0.1:${follower.port}`,
      nodeId: 'alpha',
      say: (line) => {
        said.push(line);
        onWait();
      },
    });
    return said;
  };

  it('waits for the next leader', async () => {
    expect(await joinBy(lead)).toEqual([WAITS]);
    expect(configuration()).toMatchObject({ nodeId: 'alpha', clusterName: 'test' });
  });

  it('waits where the one that led has died', async () => {
    const port = await freePorts(1);
    election.lead({ nodeId: 'dead', clusterAddress: `127.0.0.1:${port}` });
    expect(await joinBy(lead)).toEqual([WAITS]);
    expect(configuration()).toMatchObject({ nodeId: 'alpha', clusterName: 'test' });
  });
});
