/**
 * Makes certificates in a thread. Their library takes 60 ms to load, which would block the daemon's own thread, and
 * megabytes for the few times that it is needed. The thread begins with the first certificate, and ends when it had no
 * work for some seconds.
 */
import { Worker } from 'node:worker_threads';
import type { Clock, TimerHandle } from '../../loop/clock.js';
import { DroverError } from '../../model/errors.js';
import type { IssueOptions, issueCertificate, KeyPair, makeAuthority } from './certificates.js';

/** How long the thread waits for more work, so that many nodes that join at once share it. */
const IDLE_MS = 5000;

/** The functions of `certificates.ts`. */
export interface CertificateMaker {
  readonly makeAuthority: typeof makeAuthority;
  readonly issueCertificate: typeof issueCertificate;
}

export type CertificateOrder =
  | { readonly make: 'authority'; readonly parameters: Parameters<typeof makeAuthority> }
  | { readonly make: 'certificate'; readonly parameters: Parameters<typeof issueCertificate> };

export interface CertificateAnswer {
  readonly id: number;
  readonly made?: KeyPair | string;
  /** The reason why the certificate could not be made. */
  readonly failure?: string;
}

export interface CertificateThreadOptions {
  /** The path of the built certificate-thread-main.js. */
  readonly program: string;
  readonly clock: Pick<Clock, 'setTimer'>;
}

interface Waiting {
  readonly resolve: (made: KeyPair | string) => void;
  readonly reject: (error: Error) => void;
}

export class CertificateThread implements CertificateMaker {
  readonly #options: CertificateThreadOptions;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #idle: TimerHandle | undefined;
  #nextId = 1;
  #isStopped = false;

  constructor(options: CertificateThreadOptions) {
    this.#options = options;
  }

  readonly makeAuthority = async (clusterName: string, endsAt: number): Promise<KeyPair> => {
    const made = await this.#make({ make: 'authority', parameters: [clusterName, endsAt] });
    if (typeof made === 'string') throw ended();
    return made;
  };

  readonly issueCertificate = async (authority: KeyPair, options: IssueOptions): Promise<string> => {
    const made = await this.#make({ make: 'certificate', parameters: [authority, options] });
    if (typeof made !== 'string') throw ended();
    return made;
  };

  /** Ends the thread. Idempotent. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#end();
  }

  async #make(order: CertificateOrder): Promise<KeyPair | string> {
    if (this.#isStopped) throw ended();
    this.#idle?.cancel();
    this.#worker ??= this.#begin();
    const worker = this.#worker;
    const id = this.#nextId++;
    const made = new Promise<KeyPair | string>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      worker.postMessage({ ...order, id });
    });
    return made.finally(() => this.#endLater());
  }

  #endLater(): void {
    if (this.#waiting.size > 0 || this.#isStopped) return;
    this.#idle?.cancel();
    this.#idle = this.#options.clock.setTimer(IDLE_MS, () => void this.#end());
  }

  async #end(): Promise<void> {
    this.#idle?.cancel();
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }

  #begin(): Worker {
    // The thread gets nothing of the daemon: its environment holds secrets, and its options may load code.
    const worker = new Worker(this.#options.program, { name: 'certificates', env: {}, execArgv: [] });
    worker.on('message', ({ id, made, failure }: CertificateAnswer) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (made !== undefined) waiting?.resolve(made);
      else waiting?.reject(new Error(failure));
    });
    let reason: Error = ended();
    worker.on('error', (error) => {
      reason = error;
    });
    worker.on('exit', () => {
      // A thread that ended because it was idle has no waiting work; the present work belongs to the next thread.
      if (this.#worker !== worker && !this.#isStopped) return;
      this.#worker = undefined;
      for (const { reject } of this.#waiting.values()) reject(reason);
      this.#waiting.clear();
    });
    // The thread must not keep the daemon alive.
    worker.unref();
    return worker;
  }
}

function ended(): DroverError {
  return new DroverError('DRV_INTERNAL', 'the thread that makes certificates has ended');
}
