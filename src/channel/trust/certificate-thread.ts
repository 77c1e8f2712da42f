/**
 * Makes certificates in a thread of their own. The library for them takes 60 ms to load, which would block the
 * daemon's own thread, and it takes megabytes although it is rarely needed. The thread begins with the first
 * certificate, and ends when it has had no work for some seconds.
 */
import type { Clock } from '../../loop/clock.js';
import { WorkerThread } from '../../loop/worker-thread.js';
import type { IssueOptions, issueCertificate, KeyPair, makeAuthority } from './certificates.js';

/** The functions of `certificates.ts`. */
export interface CertificateMaker {
  readonly makeAuthority: typeof makeAuthority;
  readonly issueCertificate: typeof issueCertificate;
}

export type CertificateOrder =
  | { readonly make: 'authority'; readonly parameters: Parameters<typeof makeAuthority> }
  | { readonly make: 'certificate'; readonly parameters: Parameters<typeof issueCertificate> };

export class CertificateThread implements CertificateMaker {
  readonly #thread: WorkerThread<CertificateOrder, KeyPair | string>;

  /** `program`: the path of the built certificate-thread-main.js. */
  constructor(program: string, clock: Pick<Clock, 'setTimer'>) {
    this.#thread = new WorkerThread({ program, name: 'certificates', task: 'makes certificates', clock });
  }

  readonly makeAuthority = async (clusterName: string, endsAt: number): Promise<KeyPair> => {
    const made = await this.#thread.ask({ make: 'authority', parameters: [clusterName, endsAt] });
    if (typeof made === 'string') throw new Error('the thread made a certificate, not an authority');
    return made;
  };

  readonly issueCertificate = async (authority: KeyPair, options: IssueOptions): Promise<string> => {
    const made = await this.#thread.ask({ make: 'certificate', parameters: [authority, options] });
    if (typeof made !== 'string') throw new Error('the thread made an authority, not a certificate');
    return made;
  };

  /** Ends the thread. Idempotent. */
  stop(): Promise<void> {
    return this.#thread.stop();
  }
}
