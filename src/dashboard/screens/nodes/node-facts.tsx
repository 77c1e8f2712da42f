/** The badges of a node: its condition, whether it takes instances, and an action that it does not show yet. */

import { coresOf, megabytes } from '../../parts/amounts.js';
import { Meter } from '../../parts/meter.js';
import { Badge, StateBadge } from '../../parts/state-badge.js';
import type { AskedOfNodes } from './asked.js';
import { type NodeEntry, standingOf } from './node.js';
import { text } from './text.js';

export function NodeBadges({ node, asked }: { readonly node: NodeEntry; readonly asked: AskedOfNodes }) {
  const pending = asked.of(node);
  return (
    <>
      <StateBadge state={node.condition} />
      {pending === undefined ? (
        <StandingBadge node={node} />
      ) : (
        <Badge tone="busy" label={text.pending[pending]} isPending />
      )}
    </>
  );
}

function StandingBadge({ node }: { readonly node: NodeEntry }) {
  const standing = standingOf(node);
  if (standing === null) return null;
  if (standing === 'draining')
    return <Badge tone="busy" label={text.standing.draining(node.drain?.left ?? 0)} />;
  return <Badge tone="still" label={text.standing[standing]} />;
}

interface NodeMetersProps {
  readonly node: NodeEntry;
  readonly label: { readonly ram: string; readonly cpu: string };
}

export function NodeMeters({ node, label }: NodeMetersProps) {
  const { resources, capacity } = node;
  return (
    <div class="node-meters">
      <Meter
        label={label.ram}
        value={resources.usedRamMB}
        most={capacity.maxRamMB}
        text={text.used(megabytes(resources.usedRamMB), megabytes(capacity.maxRamMB))}
      />
      <Meter
        label={label.cpu}
        value={resources.usedCpu}
        most={capacity.maxCpu}
        text={coresOf(resources.usedCpu, capacity.maxCpu)}
      />
    </div>
  );
}
