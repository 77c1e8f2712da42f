/** The cluster benchmark's master: durable store, authority, cluster port and controllers. `<directory>`; its nodes come. */
import { join } from 'node:path';
import { pino } from 'pino';
import { ClusterServer } from '../../../src/channel/master/cluster-server.js';
import { Admission } from '../../../src/channel/trust/admission.js';
import { Authority } from '../../../src/channel/trust/authority.js';
import { issueCertificate, makeAuthority } from '../../../src/channel/trust/certificates.js';
import { JoinTokens } from '../../../src/channel/trust/join-tokens.js';
import { ClusterMembers } from '../../../src/channel/trust/members.js';
import { SystemClock } from '../../../src/loop/system-clock.js';
import { SecretDirectory } from '../../../src/node/secret-files.js';
import { openStore } from '../../../src/store/lmdb/open.js';
import { ControlPlane } from '../../support/control-plane/control-plane.js';
import { answerQuestions } from './cluster-child.js';
import { ClusterProbe } from './cluster-probe.js';

const [directory = ''] = process.argv.slice(2);
const clock = new SystemClock();
const logger = pino(
  { level: 'warn' },
  pino.destination({ dest: join(directory, 'master.log'), mkdir: true }),
);
const store = await openStore({ directory: join(directory, 'store') });
const files = new SecretDirectory(join(directory, 'cluster'));
const authority = new Authority({
  clusterName: 'test',
  nodeId: 'master',
  names: ['127.0.0.1', 'master', 'localhost'],
  authorityFile: files.file('authority.pem'),
  serverFile: files.file('server.json'),
  certificates: { makeAuthority, issueCertificate },
  clock,
  logger,
});
await authority.open();
const tokens = new JoinTokens({ store, authority, clock });
const audit = { record: () => undefined };
const shares = { store, authority, tokens, clock, audit, logger };
const members = new ClusterMembers(shares);
const plane = new ControlPlane({ clock, masterStore: store, logger });
const server = new ClusterServer({
  host: '127.0.0.1',
  port: 0,
  api: { address: '127.0.0.1', port: 7000, hasTls: false },
  authority,
  admission: new Admission({ ...shares, clusterName: 'test', masterNodeId: 'master' }),
  members,
  audit,
  accept: (transport, peer) => plane.master.accept(transport, peer),
  silenceMs: 6000,
  clock,
  logger,
});
await server.start();
await plane.start();
server.open();
const probe = new ClusterProbe(plane);
const { token } = await tokens.create({ label: null, expiresInMs: 3_600_000, maxUses: null });
answerQuestions({ ...probe.answers(), door: () => ({ port: server.port, token }) });
