/** `store` in `config.json`: what is accepted, and what is said of the rest. */
import { expect, it } from 'vitest';
import { nodeConfigurationSchema } from '../../../src/model/node.js';

const ENDPOINTS = ['http://127.0.0.1:2379'];

function problemsOf(store: unknown): string[] {
  const { error } = nodeConfigurationSchema.safeParse({ store });
  return (error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`);
}

it('is a file of the node unless it says otherwise', () => {
  expect(nodeConfigurationSchema.parse({}).store).toEqual({ kind: 'lmdb' });
});

it.each([
  { kind: 'lmdb' },
  { kind: 'etcd', endpoints: ENDPOINTS },
  { kind: 'etcd', endpoints: ['https://[::1]:2379', 'https://etcd.example'], ca: 'ca.pem', prefix: '/a' },
  { kind: 'etcd', endpoints: ENDPOINTS, user: 'drover', passwordFile: 'etcd.password' },
])('accepts %j', (store) => expect(problemsOf(store)).toEqual([]));

it.each([
  [{ kind: 'etcd', endpoints: [] }, /^store\.endpoints: /],
  [{ kind: 'etcd', endpoints: ['127.0.0.1:2379'] }, /^store\.endpoints\.0: must be http:\/\/host:port/],
  [{ kind: 'etcd', endpoints: ['http://a:b@c:2379'] }, /^store\.endpoints\.0: must be http:\/\/host:port/],
  [{ kind: 'etcd', endpoints: ['http://host:port'] }, /^store\.endpoints\.0: must be http:\/\/host:port/],
  [{ kind: 'etcd', endpoints: [...ENDPOINTS, 'https://a:1'] }, /^store\.endpoints: must all begin/],
  [{ kind: 'etcd', endpoints: ENDPOINTS, ca: 'ca.pem' }, /^store\.endpoints: must begin with https/],
  [{ kind: 'etcd', endpoints: ENDPOINTS, user: 'drover' }, /^store\.passwordFile: is missing: user needs it/],
  [{ kind: 'etcd', endpoints: ['https://a:1'], key: 'key.pem' }, /^store\.cert: is missing: key needs it/],
  [{ kind: 'etcd', endpoints: ENDPOINTS, prefix: '/a/' }, /^store\.prefix: must be .* not end in \//],
  [{ kind: 'lmdb', endpoints: ENDPOINTS }, /^store: .*endpoints/],
  [{ kind: 'consul' }, /^store\.kind: /],
])('refuses %j', (store, message) => {
  expect(problemsOf(store)).toEqual([expect.stringMatching(message)]);
});
