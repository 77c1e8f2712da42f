/** Secret files in memory, and an authority over them, for tests of the cluster. */
import { pino } from 'pino';
import { Authority, type AuthorityOptions, type SecretFile } from '../../../src/channel/trust/authority.js';
import { issueCertificate, makeAuthority } from '../../../src/channel/trust/certificates.js';
import type { Clock } from '../../../src/loop/clock.js';

export class MemoryFile implements SecretFile {
  readonly name: string;
  text: string | undefined;

  constructor(name: string, text?: string) {
    this.name = name;
    this.text = text;
  }

  async read(): Promise<string | undefined> {
    return this.text;
  }

  async write(text: string): Promise<void> {
    this.text = text;
  }

  async remove(): Promise<void> {
    this.text = undefined;
  }
}

interface TestAuthorityOptions {
  readonly clusterName?: string;
  readonly nodeId?: string;
  readonly authorityFile?: AuthorityOptions['authorityFile'];
  readonly serverFile?: SecretFile;
  readonly names?: readonly string[];
}

/** An authority that makes its key at the first use, for a cluster called `test` whose master is node `master`. */
export function testAuthority(clock: Clock, options: TestAuthorityOptions = {}): Authority {
  return new Authority({
    clusterName: 'test',
    nodeId: 'master',
    names: ['127.0.0.1', 'master', 'localhost'],
    authorityFile: new MemoryFile('data/cluster/authority.pem'),
    serverFile: new MemoryFile('data/cluster/server.json'),
    certificates: { makeAuthority, issueCertificate },
    clock,
    logger: pino({ level: 'silent' }),
    ...options,
  });
}
