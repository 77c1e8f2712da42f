/** Entry of the thread that makes certificates, started by certificate-thread.ts. */
import { parentPort } from 'node:worker_threads';
import { messageOf } from '../../model/errors.js';
import type { CertificateAnswer, CertificateOrder } from './certificate-thread.js';
import { issueCertificate, type KeyPair, makeAuthority } from './certificates.js';

parentPort?.on('message', async ({ id, ...order }: CertificateOrder & { readonly id: number }) => {
  parentPort?.postMessage(await answer(id, order));
});

async function answer(id: number, order: CertificateOrder): Promise<CertificateAnswer> {
  try {
    return { id, made: await make(order) };
  } catch (error) {
    return { id, failure: messageOf(error) };
  }
}

function make(order: CertificateOrder): Promise<KeyPair | string> {
  return order.make === 'authority'
    ? makeAuthority(...order.parameters)
    : issueCertificate(...order.parameters);
}
