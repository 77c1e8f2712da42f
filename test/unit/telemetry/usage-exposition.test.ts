import { expect, it } from 'vitest';
import { Metrics } from '../../../src/telemetry/metrics.js';
import { type ShownUsage, usageLabels } from '../../../src/telemetry/usage-exposition.js';
import { metricsText, NO_FIGURES } from '../../support/metrics-text.js';

const USAGE: ShownUsage = {
  labels: usageLabels('aaaaaa', 'lobby', 'node-a'),
  used: { cpuSeconds: 12.5, memoryBytes: 1048576, processes: 3 },
};

async function textOf(usages: readonly ShownUsage[]): Promise<string> {
  const metrics = new Metrics();
  metrics.addSources({ ...NO_FIGURES, usages: () => usages });
  return metricsText(metrics);
}

it('writes each metric with all its lines together, as the format wants', async () => {
  const text = await textOf([USAGE, { ...USAGE, labels: usageLabels('bbbbbb', 'lobby', 'node-a') }]);
  const lines = text.slice(text.indexOf('# HELP drover_instance_cpu')).split('\n');
  const labels = (id: string): string => `{instance="${id}",configuration="lobby",node="node-a"}`;
  expect(lines).toEqual([
    '# HELP drover_instance_cpu_seconds_total Processor time of all processes of an instance since its current start.',
    '# TYPE drover_instance_cpu_seconds_total counter',
    `drover_instance_cpu_seconds_total${labels('aaaaaa')} 12.5`,
    `drover_instance_cpu_seconds_total${labels('bbbbbb')} 12.5`,
    '',
    '# HELP drover_instance_memory_bytes Memory of all processes of an instance.',
    '# TYPE drover_instance_memory_bytes gauge',
    `drover_instance_memory_bytes${labels('aaaaaa')} 1048576`,
    `drover_instance_memory_bytes${labels('bbbbbb')} 1048576`,
    '',
    '# HELP drover_instance_processes Processes of an instance.',
    '# TYPE drover_instance_processes gauge',
    `drover_instance_processes${labels('aaaaaa')} 3`,
    `drover_instance_processes${labels('bbbbbb')} 3`,
    '',
  ]);
});

it('writes nothing where nothing was measured', async () => {
  expect(await textOf([])).not.toContain('drover_instance_memory');
});

it('ends after ten thousand instances', async () => {
  const many = Array.from({ length: 10_005 }, (_, index) => ({
    ...USAGE,
    labels: usageLabels(`i${index}`, 'lobby', 'node-a'),
  }));
  const lines = (await textOf(many))
    .split('\n')
    .filter((line) => line.startsWith('drover_instance_processes{'));
  expect(lines).toHaveLength(10_000);
});
