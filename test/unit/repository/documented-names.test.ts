/** Holds that the pages name every field, metric, route and code of an error, and no others. */
import { describe, expect, it } from 'vitest';
import { parseConfigurationFile } from '../../../src/configuration-files/parse.js';
import { configurationSchema } from '../../../src/model/configuration.js';
import { nodeConfigurationSchema } from '../../../src/model/node.js';
import { readinessSchema } from '../../../src/model/readiness.js';
import { templateInstallationSchema, templateReferenceSchema } from '../../../src/model/template.js';
import {
  addEtcdGauges,
  addFileGauges,
  addLeadershipGauges,
  addNodeGauges,
} from '../../../src/telemetry/gauges.js';
import { Metrics, USAGE_METRICS } from '../../../src/telemetry/metrics.js';
import { ApiWorld } from '../../support/api/api-world.js';
import { NO_FIGURES } from '../../support/metrics-text.js';
import { fencesOf, rowsOf, sectionOf } from '../../support/repository/markdown.js';
import { firstCells, inPages, PAGES, read } from '../../support/repository/pages.js';

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
        parsed: { warnings: [] },
      });
  });
});

describe('the codes of errors', () => {
  it('stand in docs/api.md with their statuses, and no others', () => {
    const codes = [...read('src/model/errors.ts').matchAll(/^ {2}(DRV_\w+): (\d+),$/gm)];
    expect(codes.length).toBeGreaterThan(70);
    const rows = rowsOf(sectionOf(read('docs/api.md'), '## Codes'));
    expect(rows.map(([code, status]) => `${code} ${status}`)).toEqual(
      codes.map(([, code, status]) => `\`${code}\` ${status}`),
    );
  });
});

describe('the metrics', () => {
  const metrics = new Metrics();
  metrics.addSources(NO_FIGURES);
  addNodeGauges(metrics.namingRegistry, () => []);
  metrics.addApiSockets(() => 0);
  addFileGauges(metrics.registry, metrics.namingRegistry, async () => ({
    states: new Map(),
    removalsWaiting: 0,
    behind: undefined,
    outdated: new Map(),
  }));
  addEtcdGauges(metrics.registry, () => undefined);
  addLeadershipGauges(metrics.registry, {
    isLeader: () => true,
    leader: () => null,
    onChange: () => () => undefined,
  });
  const names = [metrics.registry, metrics.namingRegistry]
    .flatMap((registry) => registry.getMetricsAsArray())
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

  it('stand there with their least scope, and a mark where a restricted key gets something', () => {
    const { routes, sockets } = new ApiWorld().server;
    const declared = [...routes, ...sockets.map((socket) => ({ ...socket, method: 'GET' }))]
      .filter(({ scope }) => scope !== 'open')
      .map(({ method, path, scope, reach }) => {
        const least = scope === 'instance-or-OPERATE' ? "OPERATE, or the instance's own key" : scope;
        const where = `/api${path.replace(/:(\w+)/g, '{$1}').replace('*', '{path}')}`;
        return `${method} ${where} ${least}${reach === undefined ? '' : ' ✓'}`;
      });
    const said = rowsOf(read('docs/api.md'))
      .filter(([method = '', , scope]) => /^(?:GET|POST|PUT|PATCH|DELETE)$/.test(method) && scope !== 'open')
      .map(([method, path = '', scope]) => `${method} ${path.replaceAll('`', '')} ${scope}`);
    expect(said.toSorted()).toEqual(declared.toSorted());
  });
});
