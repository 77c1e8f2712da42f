/** What manifests/docker/compose.yaml promises, as far as its text shows it. No container is started. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { nodeConfigurationSchema } from '../../../src/model/node.js';
import { read } from '../../support/repository/pages.js';
import { REPOSITORY } from '../../support/repository-root.js';

const FOLDER = 'manifests/docker';
const serviceSchema = z.looseObject({
  image: z.string(),
  build: z.object({ context: z.string(), dockerfile: z.string() }),
  restart: z.string(),
  hostname: z.string().optional(),
  networks: z.array(z.string()),
  volumes: z.array(z.string()),
  healthcheck: z.looseObject({ test: z.array(z.string()) }),
  command: z.array(z.string()).default([]),
  environment: z.record(z.string(), z.string()).default({}),
});
const compose = z
  .object({
    services: z.record(z.string(), serviceSchema),
    networks: z.record(z.string(), z.unknown()),
    volumes: z.record(z.string(), z.unknown()),
  })
  .parse(parse(read(`${FOLDER}/compose.yaml`), { merge: true }));
const { services } = compose;
const named = (pattern: RegExp): string[] => Object.keys(services).filter((name) => pattern.test(name));
const masters = named(/^master-/);
const members = named(/^etcd-/);
const settings = nodeConfigurationSchema.parse(
  JSON.parse(/<<'END'\n([\s\S]*)END/.exec(services['master-1']?.command[0] ?? '')?.[1] ?? ''),
);

it('has three members of etcd and three masters, which start again and are looked at', () => {
  expect([members, masters].map(({ length }) => length)).toEqual([3, 3]);
  for (const { restart } of Object.values(services)) expect(restart).toBe('unless-stopped');
  for (const name of masters)
    expect(services[name]?.healthcheck.test.join(' ')).toContain(`127.0.0.1:${settings.apiPort}/api/ping`);
});

it('builds its images from what is here', () => {
  for (const { build, image } of Object.values(services)) {
    const file = build.context === '.' ? join(FOLDER, build.dockerfile) : build.dockerfile;
    expect(existsSync(join(REPOSITORY, file)), file).toBe(true);
    expect(image).toMatch(/^drover(-etcd)?$/);
  }
});

it('gives the first master the members of etcd, which know each other', () => {
  expect(settings).toMatchObject({
    address: 'master-1',
    isMasterNode: true,
    store: { kind: 'etcd', endpoints: members.map((name) => `http://${name}:2379`) },
  });
  const cluster = members.map((name) => `${name}=http://${name}:2380`).join();
  for (const name of members)
    expect(services[name]?.environment).toEqual({
      ETCD_NAME: name,
      ETCD_INITIAL_CLUSTER: cluster,
      ETCD_LISTEN_CLIENT_URLS: 'http://0.0.0.0:2379',
      ETCD_LISTEN_PEER_URLS: 'http://0.0.0.0:2380',
      ETCD_ADVERTISE_CLIENT_URLS: `http://${name}:2379`,
      ETCD_INITIAL_ADVERTISE_PEER_URLS: `http://${name}:2380`,
    });
});

it('keeps what each has in a volume of its own, and etcd on a network that leads nowhere', () => {
  for (const name of [...masters, ...members])
    expect(services[name]?.volumes[0]).toBe(
      `${name}:${name.startsWith('etcd') ? '/var/lib/etcd' : '/var/lib/drover'}`,
    );
  expect(Object.keys(compose.volumes).toSorted()).toEqual([...masters, ...members].toSorted());
  for (const name of members) expect(services[name]?.networks).toEqual(['state']);
  expect(compose.networks).toEqual({ state: { internal: true }, cluster: null });
});

it('lets the others join as masters, under their names, at the port of the first', () => {
  const [, ...others] = masters;
  for (const name of others) {
    expect(services[name]?.hostname).toBe(name);
    expect(services[name]?.command[0]).toContain(`--master master-1:${settings.port} --as-master`);
  }
});
