/**
 * What manifests/docker/Dockerfile promises, as far as its text shows it. No registry is asked, and no image is
 * built.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { nodeConfigurationSchema } from '../../../src/model/node.js';
import { REPOSITORY } from '../../support/repository-root.js';

const read = (path: string): string => readFileSync(join(REPOSITORY, path), 'utf8');

/** Comments gone, continued lines joined: `[instruction, words]`. */
const lines = read('manifests/docker/Dockerfile')
  .replace(/^#.*\n/gm, '')
  .replace(/\\\n\s*/g, ' ')
  .split('\n')
  .filter((line) => line !== '')
  .map((line): [string, string] => [line.split(' ', 1)[0] ?? '', line.slice(line.indexOf(' ') + 1)]);

const manifest = z
  .object({ files: z.array(z.string()), bin: z.object({ drover: z.string() }) })
  .parse(JSON.parse(read('package.json')));

/** Of the repository, not of an earlier stage. */
const copied = lines
  .filter(([instruction, words]) => instruction === 'COPY' && !words.startsWith('--from'))
  .flatMap(([, words]) => words.split(' ').slice(0, -1));

const last = (instruction: string): string | undefined =>
  lines.findLast(([name]) => name === instruction)?.[1];

it('copies what exists, and the context holds it', () => {
  expect(copied.filter((path) => !existsSync(join(REPOSITORY, path)))).toEqual([]);
  const allowed = read('manifests/docker/Dockerfile.dockerignore').match(/(?<=^!).+/gm);
  expect(allowed?.toSorted()).toEqual(copied.toSorted());
});

it('copies all that is packed and what it is built from', () => {
  const isCopied = (path: string): boolean =>
    copied.some((folder) => path === folder || path.startsWith(`${folder}/`));
  expect(manifest.files.filter((path) => !/^!?dist\b/.test(path) && !isCopied(path))).toEqual([]);
  expect(copied).toEqual(
    expect.arrayContaining([
      'src',
      'controllers',
      'tools',
      'package-lock.json',
      'tsconfig.json',
      'rolldown.config.ts',
    ]),
  );
});

it('holds no file that an operator put into the checkout', () => {
  expect(copied.filter((path) => /^(?:configurations|templates)(?:\/\*?)?$/.test(path))).toEqual([]);
});

it('runs as a user that is not root, with its root on a volume', () => {
  expect(last('USER')).toBe('node');
  const volume = last('VOLUME');
  expect(JSON.parse(last('CMD') ?? '')).toEqual(['start', '--root', volume]);
  expect(lines.findIndex(([name]) => name === 'VOLUME')).toBeGreaterThan(
    lines.findIndex(([, words]) => words.includes(`--owner=node`) && words.endsWith(volume ?? '-')),
  );
});

it('stops with the signal that stops instances, and exposes the ports of a new node', () => {
  expect(last('STOPSIGNAL')).toBe('SIGINT');
  const { apiPort, port } = nodeConfigurationSchema.parse({});
  expect(last('EXPOSE')).toBe(`${apiPort} ${port}`);
});

it('names images without a registry, of a Node.js that package.json allows', () => {
  const images = lines.filter(([name]) => name === 'FROM').map(([, words]) => words.split(' ')[0]);
  expect(images).toEqual([expect.stringMatching(/^node:2[24]-/), expect.stringMatching(/^node:2[24]-/)]);
});
