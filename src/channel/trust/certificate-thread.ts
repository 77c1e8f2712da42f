/**
 * Makes certificates in a thread of their own. The library for them takes 60 ms to load, which would block the
 * daemon's own thread, and it takes megabytes although it is rarely needed. The thread begins with the first
 * certificate, and ends when it has had no work for some seconds.
 */
import type { Clock, TimerHandle } from '../../loop/clock.js';
import { WorkerThread } from '../../loop/worker-thread.js';
import type { IssueOptions, issueCertificate, KeyPair, makeAuthority } from './certificates.js';

/** How long the thread waits for more work, so that many nodes that join at once share it. */
const IDLE_MS = 5000;

/** The functions of `certificates.ts`. */
export type CertificateMaker = Pick<CertificateThread, 'makeAuthority' | 'issueCertificate'>;

export type CertificateOrder =
  | { readonly make: 'authority'; readonly parameters: Parameters<typeof makeAuthority> }
  | { readonly make: 'certificate'; readonly parameters: Parameters<typeof issueCertificate> };

export class CertificateThread {
  readonly #clock: Pick<Clock, 'setTimer'>;
  readonly #thread: WorkerThread<CertificateOrder, KeyPair | string>;
  #idle: TimerHandle | undefined;

  /** `program`: the path of the built certificate-thread-main.js. */
  constructor(program: string, clock: Pick<Clock, 'setTimer'>) {
    this.#clock = clock;
    this.#thread = new WorkerThread({ program, name: 'certificates', task: 'makes certificates' });
  }

  readonly makeAuthority = async (clusterName: string, endsAt: number): Promise<KeyPair> => {
    const made = await this.#make({ make: 'authority', parameters: [clusterName, endsAt] });
    if (typeof made === 'string') throw new Error('the thread made a certificate, not an authority');
    return made;
  };

  readonly issueCertificate = async (authority: KeyPair, options: IssueOptions): Promise<string> => {
    const made = await this.#make({ make: 'certificate', parameters: [authority, options] });
    if (typeof made !== 'string') throw new Error('the thread made an authority, not a certificate');
    return made;
  };

  /** Ends the thread. Idempotent. */
  async stop(): Promise<void> {
    this.#idle?.cancel();
    await this.#thread.stop();
  }

  async #make(order: CertificateOrder): Promise<KeyPair | string> {
    this.#idle?.cancel();
    try {
      return await this.#thread.ask(order);
    } finally {
      if (this.#thread.isIdle) {
        this.#idle?.cancel();
        this.#idle = this.#clock.setTimer(IDLE_MS, () => void this.#thread.rest());
      }
    }
  }
}
