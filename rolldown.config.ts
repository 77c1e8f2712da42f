/**
 * Bundles the program. `dist/` gets the executable, the two programs that it starts detached, those of its threads, and
 * a chunk for each thing that loads when it is first used. `bundle.mjs` calls it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig, type OutputBundle, type Plugin } from 'rolldown';

/** Packages with native code, and the files of the API page: they are installed beside the program. */
const INSTALLED = ['lmdb', 'node-pty', 'swagger-ui-dist'];

/**
 * Left out, because Drover never calls them:
 * - the first two: the HTTP server needs them for JSON schemas, which its routes do not have;
 * - `@opentelemetry/api`: metrics need it for exemplars, which are off;
 * - `duplexify`: the WebSocket plugin needs it to inject handshakes in tests.
 */
const NEVER_ASKED = [
  '@fastify/ajv-compiler',
  '@fastify/fast-json-stringify-compiler',
  '@opentelemetry/api',
  'duplexify',
];

/**
 * Code that loads together goes into one file, because each further file costs half a millisecond of a start: what every
 * command loads (`start`), and what those load that call the API (`client`). The other programs load a part of that
 * code, which has a file of its own (`words`).
 */
const TOGETHER = [
  {
    name: 'words',
    test: /\/src\/(?:files\/system-error|loop\/(?:backoff|remembered)|model\/(?:errors|words|plain\/(?:attempt|name))|telemetry\/plain-text)\.ts$/,
    priority: 2,
  },
  { name: 'start', test: /\/src\/(?:cli\/program|client\/end|telemetry\/source-stack)\.ts$/, priority: 1 },
  {
    name: 'client',
    test: /\/src\/(?:client\/(?:api-client|connection\/[a-z-]+|contexts\/(?:choose-target|context|own-root))|command-tree\/runs\/[a-z]+-runs)\.ts$/,
    priority: 0,
  },
];

export default defineConfig({
  input: {
    main: 'src/main.ts',
    'owner-main': 'src/runtime/process/owner-main.ts',
    'session-owner-main': 'src/runtime/session/session-owner-main.ts',
    'pack-thread-main': 'src/templates/transfer/pack-thread-main.ts',
    'edit-thread-main': 'src/runtime/installation/file-edits/edit-thread-main.ts',
    'certificate-thread-main': 'src/channel/trust/certificate-thread-main.ts',
    'loop-thread-main': 'src/extensions/loop-thread-main.ts',
  },
  platform: 'node',
  external: [...INSTALLED, /^swagger-ui-dist\//],
  resolve: { alias: Object.fromEntries(NEVER_ASKED.map((name) => [name, false as const])) },
  plugins: [licences(), billOfMaterials(), withoutUnusedBuiltins(), withoutCommands()],
  output: {
    dir: 'dist',
    format: 'esm',
    // A pure ASCII file takes one byte per character in memory; a single dash would double that.
    charset: 'ascii',
    // The licences have a file of their own, and a letter of a name that is not ASCII would make decoding slow.
    comments: { legal: false },
    // Loading is mostly parsing: code without space and comments starts a tenth faster, and short names of variables
    // save another twentieth. Functions and classes keep their names, for stacks.
    minify: { mangle: { keepNames: true }, compress: false, codegen: true },
    sourcemap: true,
    sourcemapExcludeSources: true,
    entryFileNames: '[name].js',
    // The chunks lie one folder below the programs, which start-wrapper.ts finds from there.
    chunkFileNames: 'chunks/[name]-[hash].js',
    codeSplitting: { groups: TOGETHER },
  },
});

/** The modules of Node.js that a package loads at each start for what Drover does not have, and the package. */
const UNUSED_BUILTINS = [
  // For commands that are programs of their own.
  ['node:child_process', '/node_modules/commander/'],
  // 10 ms and 2 MB.
  ['node:http2', '/node_modules/fastify/'],
] as const;

function withoutUnusedBuiltins(): Plugin {
  const nothing = '\0unused-builtin';
  return {
    name: 'without-unused-builtins',
    resolveId: (source, importer) =>
      UNUSED_BUILTINS.some(([name, user]) => source === name && importer?.includes(user))
        ? nothing
        : undefined,
    load: (id) => (id === nothing ? 'export default {};' : undefined),
  };
}

/**
 * Fails when another program than `main` loads the code of commands. A group takes in all that its modules import, so
 * what the other programs share with commands belongs in `words`.
 */
function withoutCommands(): Plugin {
  return {
    name: 'without-commands',
    generateBundle(_options, bundle) {
      const chunkOf = (file: string) => (bundle[file]?.type === 'chunk' ? bundle[file] : undefined);
      for (const entry of Object.keys(bundle).filter(
        (file) => chunkOf(file)?.isEntry && file !== 'main.js',
      )) {
        const loaded = new Set([entry]);
        for (const file of loaded) for (const next of chunkOf(file)?.imports ?? []) loaded.add(next);
        for (const name of [...loaded].map((file) => chunkOf(file)?.name))
          if (name === 'start' || name === 'client')
            this.error(`${entry} loads ${name}: what they share belongs in words`);
      }
    },
  };
}

/**
 * Writes the licences of all packages in the bundle, as these require, for the program and for the dashboard. Packages
 * with the same text share one copy.
 */
export function licences(): Plugin {
  return {
    name: 'licences',
    generateBundle(_options, bundle) {
      const sharing = new Map<string, string[]>();
      for (const folder of packagesIn(bundle)) {
        const { name, version, license } = packageIn(folder);
        const text = licenceOf(folder);
        sharing.set(text, [...(sharing.get(text) ?? []), `${name} ${version} (${license})`]);
      }
      const source = [...sharing]
        .map(([text, titles]) => `${titles.toSorted().join('\n')}\n\n${text}\n`)
        .join(`\n${'-'.repeat(80)}\n`);
      this.emitFile({ type: 'asset', fileName: 'THIRD-PARTY-LICENSES.txt', source });
    },
  };
}

/** Writes the list of all packages in the bundle for auditors, in the form of CycloneDX; `bundle.mjs` joins both lists. */
export function billOfMaterials(): Plugin {
  return {
    name: 'bill-of-materials',
    generateBundle(_options, bundle) {
      const own = packageIn('.');
      const list = {
        bomFormat: 'CycloneDX',
        specVersion: '1.6',
        version: 1,
        metadata: { component: { type: 'application', ...componentOf(own) } },
        components: packagesIn(bundle).map((folder) => ({
          type: 'library',
          ...componentOf(packageIn(folder)),
        })),
      };
      this.emitFile({ type: 'asset', fileName: 'bom.cdx.json', source: JSON.stringify(list) });
    },
  };
}

interface Package {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression. */
  readonly license: string;
}

function componentOf({ name, version, license }: Package) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return { 'bom-ref': purl, name, version, purl, licenses: [{ expression: license }] };
}

/** The folders of the packages that have a module in the bundle. */
function packagesIn(bundle: OutputBundle): string[] {
  const modules = Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
  const folders = modules.flatMap((id) => /^\/.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []);
  return [...new Set(folders)];
}

function packageIn(folder: string): Package {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Package;
}

function licenceOf(folder: string): string {
  return readdirSync(folder)
    .filter((file) => /^(?:licen[cs]e|notice|copying)/i.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8').trim())
    .join('\n\n');
}
