/** The RAM and CPU of a node that placement has reserved, as bars. */
import { coresOf, megabytes } from '../../parts/amounts.js';
import { Meter } from '../../parts/meter.js';
import type { NodeEntry } from './node.js';
import { text } from './text.js';

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
