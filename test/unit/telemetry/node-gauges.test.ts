/** The figures of nodes in `/metrics`. */
import { expect, it } from 'vitest';
import { addNodeGauges, type NodeFigures } from '../../../src/telemetry/gauges.js';
import { Metrics } from '../../../src/telemetry/metrics.js';
import { nodeRecord } from '../../support/control-plane/records.js';
import { metricsText } from '../../support/metrics-text.js';

const USE = { ramMB: 300, cpu: 20, instances: 2 };

it('the metrics of a node show capacity, use, beat, condition and what it offers, and go with the node', async () => {
  const metrics = new Metrics();
  const drain = { since: 0, deadline: 0, doneAt: null };
  let nodes: NodeFigures[] = [
    { record: nodeRecord('alpha'), use: USE, beatAgeMs: 1500 },
    {
      record: nodeRecord('beta', { condition: 'lost', cordoned: true, drain, runtimes: [] }),
      use: { ...USE, ramMB: 0 },
      beatAgeMs: undefined,
    },
    { record: nodeRecord('gamma', { drain: { ...drain, doneAt: 7 } }), use: USE, beatAgeMs: 0 },
    { record: nodeRecord('delta', { cordoned: true }), use: USE, beatAgeMs: 0 },
  ];
  addNodeGauges(metrics.namingRegistry, () => nodes);
  const text = await metricsText(metrics);
  for (const line of [
    'drover_node_connected{node="alpha"} 1',
    'drover_node_connected{node="beta"} 0',
    'drover_node_ram_used_mb{node="alpha"} 300',
    'drover_node_ram_max_mb{node="alpha"} 1000',
    'drover_node_cpu_used{node="alpha"} 20',
    'drover_node_cpu_max{node="alpha"} 1000',
    'drover_node_instances{node="alpha"} 2',
    'drover_node_beat_age_seconds{node="alpha"} 1.5',
    'drover_node_runtime{node="alpha",runtime="process"} 1',
    'drover_node_info{node="alpha",version="0.0.0",condition="connected",mark=""} 1',
    'drover_node_info{node="beta",version="0.0.0",condition="lost",mark="draining"} 1',
    'drover_node_info{node="gamma",version="0.0.0",condition="connected",mark="drained"} 1',
    'drover_node_info{node="delta",version="0.0.0",condition="connected",mark="cordoned"} 1',
  ])
    expect(text).toContain(`${line}\n`);
  expect(text).not.toContain('drover_node_beat_age_seconds{node="beta"}');
  expect(text).not.toContain('drover_node_runtime{node="beta"');
  nodes = [];
  expect(await metricsText(metrics)).not.toContain('{node=');
});
