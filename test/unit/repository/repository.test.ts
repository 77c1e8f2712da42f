/**
 * Holds what the files around the code promise: true examples, and nothing of a developer's machine.
 * documents.test.ts and documented-*.test.ts hold what the pages promise.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parseConfigurationFile } from '../../../src/configuration-files/parse.js';
import { configurationSchema } from '../../../src/model/configuration.js';
import { chooseTemplates } from '../../../src/templates/library/choose.js';
import { scanGroups } from '../../../src/templates/library/template-names.js';
import { linksOf } from '../../support/repository/markdown.js';
import { REPOSITORY } from '../../support/repository-root.js';

/** Made by tools or by a node that runs in the checkout; all in .gitignore. */
const NOT_OURS = new Set([
  'node_modules',
  'dist',
  'build',
  '.git',
  'coverage',
  'data',
  'logs',
  'running',
  'extensions',
]);

const HOME_DIRECTORY = /(?<![\w.%~-])\/(?:home|Users|root)\/[\w.-]+/g;
const REGISTRY_HOST = /https?:\/\/[^/\s"']*(?:registry|npm|artifactory|nexus)[^/\s"']*/g;

const manifest = z
  .object({
    license: z.literal('Apache-2.0'),
    engines: z.object({ node: z.string() }),
    bin: z.object({ drover: z.string() }),
    files: z.array(z.string()),
    scripts: z.record(z.string(), z.string()),
    dependencies: z.record(z.string(), z.string()),
    allowScripts: z.record(z.string(), z.boolean()),
  })
  .parse(JSON.parse(read('package.json')));

const lock = z
  .object({ packages: z.record(z.string(), z.looseObject({ hasInstallScript: z.boolean().optional() })) })
  .parse(JSON.parse(read('package-lock.json')));

function read(path: string): string {
  return readFileSync(join(REPOSITORY, path), 'utf8');
}

function ourFiles(directory = REPOSITORY): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.isDirectory())
      return directory === REPOSITORY && NOT_OURS.has(entry.name) ? [] : ourFiles(path);
    return entry.isFile() && path !== join(REPOSITORY, 'config.json') ? [relative(REPOSITORY, path)] : [];
  });
}

/** Places in `text` that are true on one machine only. */
function machinePathsIn(text: string): string[] {
  const here = [REPOSITORY.replace(/\/$/, ''), homedir()].filter((path) => path.split('/').length > 2);
  return [...here.filter((path) => text.includes(path)), ...(text.match(HOME_DIRECTORY) ?? [])];
}

describe('the repository', () => {
  it('holds no path of a developer machine', () => {
    const found = ourFiles()
      .filter((file) => file !== 'test/unit/repository/repository.test.ts')
      .flatMap((file) => machinePathsIn(read(file)).map((path) => `${file}: ${path}`));
    expect(found).toEqual([]);
  });

  it('would notice one', () => {
    expect(machinePathsIn(`see ${REPOSITORY}src`)).not.toEqual([]);
    expect(machinePathsIn('cd /home/jane/drover && npm test')).toEqual(['/home/jane']);
    expect(machinePathsIn('GET /api/home/page of https://x.test/Users/a')).toEqual([]);
  });

  it('locks versions without saying where somebody got them', () => {
    const text = read('package-lock.json');
    expect(text).not.toContain('"resolved"');
    expect(text.match(REGISTRY_HOST) ?? []).toEqual([]);
    expect(existsSync(join(REPOSITORY, '.npmrc'))).toBe(false);
  });

  it('supports Node 20 from 20.19 on', () => {
    expect(manifest.engines.node).toBe('>=20.19');
  });

  it('says of every package with an install script whether it may run', () => {
    const scripted = Object.entries(lock.packages)
      .filter(([, { hasInstallScript }]) => hasInstallScript === true)
      .map(([path]) => path.replace(/^.*node_modules\//, ''));
    expect(Object.keys(manifest.allowScripts)).toEqual(expect.arrayContaining(scripted));
  });

  it('needs no install script', () => {
    expect(Object.values(manifest.allowScripts)).not.toContain(true);
  });

  it('pins the packages whose inner parts it uses', () => {
    const { dependencies } = manifest;
    expect([dependencies['node-pty'], dependencies['prom-client']]).toEqual([
      expect.stringMatching(/^npm:@lydell\/node-pty@\d+\.\d+\.\d+$/),
      expect.stringMatching(/^\d+\.\d+\.\d+$/),
    ]);
  });

  it('packs a new build only, and the pages that its README links to', () => {
    expect(manifest.scripts.prepack).toBe('npm run --silent build');
    const isPacked = (path: string): boolean =>
      [...manifest.files, 'README.md', 'LICENSE'].some(
        (packed) => path === packed || path.startsWith(`${packed}/`),
      );
    const links = linksOf(read('README.md')).flatMap((target) => {
      const path = target.split('#')[0] ?? '';
      return path === '' || /^https?:/.test(path) ? [] : [path];
    });
    expect(links.length).toBeGreaterThan(5);
    expect(links.filter((path) => !isPacked(path))).toEqual([]);
  });

  it('offers a program that a shell can run', () => {
    const source = manifest.bin.drover.replace(/^dist\//, 'src/').replace(/\.js$/, '.ts');
    expect(read(source).split('\n')[0]).toBe('#!/usr/bin/env node');
  });

  it('carries the whole licence that package.json names', () => {
    const licence = read('LICENSE');
    expect(licence).toContain('Apache License\n');
    expect(licence).toContain('END OF TERMS AND CONDITIONS');
    expect(licence).toContain('The Drover authors');
  });
});

describe('the example configurations', async () => {
  const { groups, ignored } = await scanGroups(join(REPOSITORY, 'templates'));
  const files = readdirSync(join(REPOSITORY, 'configurations')).filter((file) => file.endsWith('.json'));

  it('are there', () => {
    expect(files).toContain('hello.json');
    expect(ignored).toEqual([]);
  });

  it.each(files)('%s is valid, and all of its fields are known', (file) => {
    expect(parseConfigurationFile(file, read(`configurations/${file}`))).toMatchObject({
      parsed: { warnings: [] },
    });
  });

  it.each(files)('%s finds its templates, and in them the files that it modifies', (file) => {
    const configuration = configurationSchema.parse(JSON.parse(read(`configurations/${file}`)));
    const { templates, problems } = chooseTemplates(configuration.templateInstallationConfig, 'abc123', {
      groups,
      storages: [],
    });
    expect(problems).toEqual([]);
    for (const path of configuration.fileModifications) {
      const holders = templates.filter(({ group, name }) =>
        existsSync(join(REPOSITORY, 'templates', group, name, path)),
      );
      expect(holders, path).not.toEqual([]);
    }
    for (const { group, name } of templates)
      expect(existsSync(join(REPOSITORY, 'templates', group, name))).toBe(true);
  });
});
