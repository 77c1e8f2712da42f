/** Entry of the thread that makes certificates, started by certificate-thread.ts. */
import { answerJobs } from '../../loop/worker-thread.js';
import type { CertificateOrder } from './certificate-thread.js';
import { issueCertificate, type KeyPair, makeAuthority } from './certificates.js';

answerJobs<CertificateOrder, KeyPair | string>((order) =>
  order.make === 'authority' ? makeAuthority(...order.parameters) : issueCertificate(...order.parameters),
);
