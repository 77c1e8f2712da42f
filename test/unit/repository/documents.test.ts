/** Holds what the pages promise: links, scripts, commands, fields, routes, metrics and files that they name exist, and the other way round. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { buildProgram } from '../../../src/cli/program.js';
import { parseConfigurationFile } from '../../../src/configuration-files/parse.js';
import { configurationSchema } from '../../../src/model/configuration.js';
import { nodeConfigurationSchema } from '../../../src/model/node.js';
import { readinessSchema } from '../../../src/model/readiness.js';
import { templateInstallationSchema, templateReferenceSchema } from '../../../src/model/template.js';
import { Metrics, USAGE_METRICS } from '../../../src/telemetry/metrics.js';
import { ApiWorld } from '../../support/api/api-world.js';
import { CommandWorld } from '../../support/control-plane/command-world.js';
import {
  anchorsOf,
  fencesOf,
  inlineCodeOf,
  linksOf,
  proseOf,
  rowsOf,
  sectionOf,
} from '../../support/repository/markdown.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const MANUAL = readdirSync(join(ROOT, 'docs')).map((name) => `docs/${name}`);
const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  'controllers/README.md',
  'test/README.md',
  'manifests/extensions/shared-folder/README.md',
  ...MANUAL,
];
const MOST_LINES_OF_README = 200;
/** Words in code that a page names and a shell or npm takes as its own. */
const SCRIPTS_OF_NPM = ['start', 'test'];
const NO_SCRIPT_OF_A_PERSON = /^(?:pre|post)/;

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const firstCells = (text: string): string[] => rowsOf(text).map(([cell = '']) => cell.replaceAll('`', ''));

/** Each of `found` as `page: what`, so that a failure says where to look. */
function inPages(find: (text: string, page: string) => readonly string[], pages = PAGES): string[] {
  return pages.flatMap((page) => find(read(page), page).map((what) => `${page}: ${what}`));
}

describe('the pages', () => {
  it('have links that lead somewhere, anchors included', () => {
    const isBroken = (page: string, target: string): boolean => {
      if (/^https?:/.test(target)) return false;
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? page : relative(ROOT, resolve(ROOT, dirname(page), path));
      if (!existsSync(join(ROOT, file))) return true;
      return anchor !== undefined && !anchorsOf(read(file)).has(anchor);
    };
    expect(linksOf(read('README.md')).length).toBeGreaterThan(10);
    expect(inPages((text, page) => linksOf(text).filter((target) => isBroken(page, target)))).toEqual([]);
  });

  it('name files that exist', () => {
    const isFile = /^(?:src|controllers|test|manifests|docs|templates)\/[\w./-]+\.\w+$/;
    const named = (text: string): string[] => inlineCodeOf(text).filter((code) => isFile.test(code));
    expect(named(read('controllers/README.md')).length).toBeGreaterThan(10);
    expect(inPages((text) => named(text).filter((file) => !existsSync(join(ROOT, file))))).toEqual([]);
  });

  it('name environment variables that the program, its tests or its tools read', () => {
    const source = ['src', 'controllers', 'test']
      .flatMap((folder) => readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile() && /\.(?:ts|sh)$/.test(entry.name))
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
      .concat(read('vitest.config.ts'))
      .join('\n');
    const known = new Set(source.match(/DROVER_[A-Z_]*[A-Z]/g));
    expect(known.size).toBeGreaterThan(10);
    expect(
      inPages((text) => (text.match(/DROVER_[A-Z_]*[A-Z]/g) ?? []).filter((name) => !known.has(name))),
    ).toEqual([]);
  });

  it('of the manual say first what the reader can do after them', () => {
    const openings = MANUAL.map((page) => proseOf(read(page))[2] ?? '');
    expect(openings.filter((line) => !line.startsWith('After this page you '))).toEqual([]);
  });

  it('of the manual are all linked from README.md', () => {
    const links = linksOf(read('README.md'));
    expect(
      [...MANUAL, 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'].filter((page) => !links.includes(page)),
    ).toEqual([]);
  });

  it('begin with a README.md that is a door, not a manual', () => {
    const lines = read('README.md').trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(MOST_LINES_OF_README);
    expect(lines).toContainEqual(expect.stringMatching(/^npm ci && npm start /));
    expect(lines).toContainEqual(expect.stringMatching(/^npm ci && npm test /));
  });
});

describe('the scripts of package.json', () => {
  const { scripts } = z
    .object({ scripts: z.record(z.string(), z.string()) })
    .parse(JSON.parse(read('package.json')));
  const named = (text: string): string[] => {
    const runs = [...text.matchAll(/npm run (?:--silent )?([\w:-]+)/g)].map(([, name = '']) => name);
    return [...runs, ...SCRIPTS_OF_NPM.filter((name) => text.includes(`npm ${name}`))];
  };

  it('are there when a page names them', () => {
    expect(inPages((text) => named(text).filter((name) => !Object.hasOwn(scripts, name)))).toEqual([]);
  });

  it('stand in README.md or CONTRIBUTING.md', () => {
    const known = new Set([...named(read('README.md')), ...named(read('CONTRIBUTING.md'))]);
    const unnamed = Object.keys(scripts).filter(
      (name) => !known.has(name) && !NO_SCRIPT_OF_A_PERSON.test(name),
    );
    expect(unnamed).toEqual([]);
  });
});

describe('the executable', () => {
  const program = buildProgram('0.0.0');

  /** What is wrong with a line that begins with `drover`; undefined: nothing. */
  function faultOf(line: string): string | undefined {
    const [, word = '', ...rest] = line.split(/\s+/);
    if (word.startsWith('-')) return ['--help', '--version'].includes(word) ? undefined : line;
    const command = program.commands.find((known) => known.name() === word);
    const options = [...(command?.options.map(({ long }) => long) ?? []), '--help'];
    const isRight = rest.filter((text) => text.startsWith('--')).every((text) => options.includes(text));
    return command !== undefined && isRight ? undefined : line;
  }

  const lines = (text: string): string[] =>
    [...fencesOf(text).flatMap((fence) => fence.lines), ...inlineCodeOf(text)]
      .map((line) => line.replace(/^\$ /, '').replace(/ +#.*$/, ''))
      .filter((line) => /^drover [a-z-]/.test(line));

  it('has the commands and options that pages name', () => {
    expect(lines(read('docs/cluster.md')).length).toBeGreaterThan(3);
    expect(inPages((text) => lines(text).flatMap((line) => faultOf(line) ?? []))).toEqual([]);
    expect(faultOf('drover fly')).toBe('drover fly');
    expect(faultOf('drover start --high')).toBe('drover start --high');
  });

  it('is explained whole in docs/commands.md', () => {
    const cells = firstCells(sectionOf(read('docs/commands.md'), '## The program'));
    const said = cells.map((cell) => cell.replace(/ <.*$/, ''));
    const commands = program.commands.map((command) => `drover ${command.name()}`);
    const options = program.commands.flatMap((command) => command.options.map(({ long }) => long ?? ''));
    expect([...commands, ...options].filter((name) => !said.includes(name))).toEqual([]);
  });
});

describe('the commands of the console', () => {
  let world: CommandWorld;
  /** `cluster drain` -> its help. */
  const helps = new Map<string, string>();

  beforeAll(async () => {
    world = await CommandWorld.create();
    const listed = z.array(z.object({ usage: z.string() })).parse(await world.json('help'));
    for (const { usage } of listed) {
      const path = usage.replace(/ [<[].*$/, '');
      helps.set(path, await world.run(`${path} --help`));
    }
  });
  afterAll(() => world.stop());

  const pathOf = (line: string): string | undefined =>
    [...helps.keys()].find((path) => line === path || line.startsWith(`${path} `));

  function faultOf(line: string): string | undefined {
    const help = helps.get(pathOf(line) ?? '');
    const options = line.match(/(?<= |\[)--[a-z-]+/g) ?? [];
    return help !== undefined && options.every((option) => help.includes(option)) ? undefined : line;
  }

  /** What is typed at a prompt, and code that begins like a command: with a group and a word. */
  function named(text: string): string[] {
    const groups = new Set(
      [...helps.keys()].filter((path) => path.includes(' ')).map((path) => path.split(' ')[0]),
    );
    const typed = fencesOf(text).flatMap(({ lines }) =>
      lines.filter((line) => line.startsWith('drover> ')).map((line) => line.slice('drover> '.length)),
    );
    const code = inlineCodeOf(text).filter(
      (line) => /^[a-z]+ [a-z]+(?= |$)/.test(line) && groups.has(line.split(' ')[0]),
    );
    return [...typed, ...code];
  }

  it('are those that pages name, with their options', () => {
    expect(named(read('docs/operations.md')).length).toBeGreaterThan(5);
    expect(inPages((text) => named(text).flatMap((line) => faultOf(line) ?? []))).toEqual([]);
    expect(faultOf('cluster explode')).toBe('cluster explode');
    expect(faultOf('cluster drain n1 --fast')).toBe('cluster drain n1 --fast');
  });

  it('all stand in docs/commands.md, and no others', () => {
    const cells = firstCells(sectionOf(read('docs/commands.md'), '## At the prompt'));
    expect(cells.map((cell) => pathOf(cell) ?? cell).toSorted()).toEqual([...helps.keys()].toSorted());
  });
});

describe('the fields of configurations', () => {
  const page = read('docs/configuration.md');
  const templates = sectionOf(read('docs/templates.md'), '## Choosing templates');

  it.each([
    ['config.json', nodeConfigurationSchema.shape, sectionOf(page, '## `config.json`')],
    ['a configuration', configurationSchema.shape, sectionOf(page, '## `configurations/')],
    ['readiness', readinessSchema.shape, sectionOf(page, '## Being ready')],
    [
      'templateInstallationConfig and its templates',
      { ...templateInstallationSchema.shape, ...templateReferenceSchema.shape },
      templates,
    ],
  ])('of %s stand in the manual, and no others', (_what, shape, section) => {
    expect(firstCells(section).toSorted()).toEqual(Object.keys(shape).toSorted());
  });

  it('are known in every example', () => {
    const examples = PAGES.flatMap((path) =>
      fencesOf(read(path))
        .filter(({ language, lines }) => language === 'json' && lines.join(' ').includes('"command":'))
        .map(({ lines }) => ({ path, text: lines.join('\n') })),
    );
    expect(examples.length).toBeGreaterThan(2);
    for (const { path, text } of examples)
      expect(parseConfigurationFile('example.json', text), path).toMatchObject({
        parsed: { unknownFields: [] },
      });
  });
});

describe('the metrics', () => {
  const metrics = new Metrics();
  metrics.addSources({
    instances: () => [],
    services: () => [],
    configurationFileErrors: () => 0,
    usages: () => [],
  });
  metrics.addNodes(() => []);
  metrics.addApiSockets(() => 0);
  const names = metrics.registry
    .getMetricsAsArray()
    .map(({ name }) => name)
    .filter((name) => name.startsWith('drover_'))
    .concat(USAGE_METRICS.map(({ name }) => name));
  const known = new Set(names.flatMap((name) => [name, `${name}_bucket`, `${name}_sum`, `${name}_count`]));

  it.each(names)('%s stands in docs/operations.md', (name) => {
    expect(firstCells(sectionOf(read('docs/operations.md'), '## Metrics'))).toContain(name);
  });

  it('are those that pages and alert rules name', () => {
    const rules = 'manifests/prometheus/alerts.yml';
    const named = (text: string): string[] => text.match(/\bdrover_[a-z_]+/g) ?? [];
    expect(named(read(rules)).length).toBeGreaterThan(5);
    expect(inPages((text) => named(text).filter((name) => !known.has(name)), [...PAGES, rules])).toEqual([]);
  });
});

describe('the routes', () => {
  it('all stand in docs/api.md, and no others', () => {
    const { routes, sockets } = new ApiWorld().server;
    const served = [...routes, ...sockets.map(({ path }) => ({ method: 'GET', path }))]
      .map(({ method, path }) => `${method} /api${path.replace(/:(\w+)/g, '{$1}').replace('*', '{path}')}`)
      .filter((route) => !route.startsWith('GET /api/docs'));
    const said = rowsOf(read('docs/api.md'))
      .filter(([method = '']) => /^(?:GET|POST|PUT|PATCH|DELETE)$/.test(method))
      .map(([method, path = '']) => `${method} ${path.replaceAll('`', '')}`);
    expect(served.length).toBeGreaterThan(10);
    expect(said.toSorted()).toEqual(served.toSorted());
  });
});

describe('the rooms', () => {
  const rows = rowsOf(sectionOf(read('docs/architecture.md'), '## The rooms')).map((cells) =>
    cells.join(' | '),
  );
  const foldersOf = (path: string): string[] =>
    readdirSync(join(ROOT, path), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);

  it('all have a row in docs/architecture.md, which names the rooms in them', () => {
    const missing = foldersOf('src').flatMap((room) => {
      const row = rows.find((text) => text.startsWith(`[\`src/${room}/\`]`));
      if (row === undefined) return [`src/${room}/`];
      return foldersOf(`src/${room}`)
        .filter((inner) => !row.includes(`\`${inner}/\``))
        .map((inner) => `src/${room}/${inner}/`);
    });
    expect(missing).toEqual([]);
  });
});

describe('the check of the documents', () => {
  const text = [
    '# A `b`: c',
    '',
    '[x](y.md#z) and `a  b`',
    '```sh',
    '# no heading',
    'drover start',
    '```',
    '## A b c',
  ];

  it('sees headings, links, code and fences', () => {
    const page = text.join('\n');
    expect([...anchorsOf(page)]).toEqual(['a-b-c', 'a-b-c-1']);
    expect(linksOf(page)).toEqual(['y.md#z']);
    expect(inlineCodeOf(page)).toEqual(['b', 'a b']);
    expect(fencesOf(page)).toEqual([{ language: 'sh', lines: ['# no heading', 'drover start'] }]);
  });

  it('sees rows of tables without their heads, and sections without what follows them', () => {
    const table = [
      '## One',
      '| head | more |',
      '|---|---|',
      '| `a \\| b` | c |',
      '### Two',
      '## Three',
      '| d | e |',
    ];
    expect(rowsOf(table.join('\n'))).toEqual([
      ['`a \\| b`', 'c'],
      ['d', 'e'],
    ]);
    expect(rowsOf(sectionOf(table.join('\n'), '## One'))).toEqual([['`a \\| b`', 'c']]);
  });
});
