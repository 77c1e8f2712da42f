/** The collaborators of the wrapper's controllers. The composition root builds them once and hands them over whole. */
import type { CallPeer } from '../../src/channel/protocol/calls.js';
import type { DesiredCopy } from '../../src/node/desired-copy.js';
import type { HandleBook } from '../../src/node/handle-book.js';
import type { LeftDirectories } from '../../src/node/left-directories.js';
import type { NodeSecrets } from '../../src/node/node-secrets.js';
import type { StatusOutbox } from '../../src/node/status-outbox.js';
import type { TemplatePrefetch } from '../../src/node/template-prefetch.js';
import type { Installation } from '../../src/runtime/installation/local-installation.js';
import type { ResourceLimits } from '../../src/runtime/limits/resource-limits.js';
import type { SampledRun, UsageSampler } from '../../src/runtime/limits/usage-sampler.js';
import type { holderOfPort, PortFinding } from '../../src/runtime/listening.js';
import type { RuntimeOffers } from '../../src/runtime/offers.js';
import type { checkPort } from '../../src/runtime/ports.js';
import type { Ambient } from '../../src/telemetry/ambient.js';

export interface NodeParts extends Ambient {
  readonly desired: DesiredCopy;
  readonly secrets: NodeSecrets;
  readonly handles: HandleBook;
  readonly outbox: StatusOutbox;
  readonly left: LeftDirectories;
  readonly runtimes: RuntimeOffers;
  readonly limits: ResourceLimits;
  readonly sampler: UsageSampler;
  readonly installation: Installation;
  readonly checkPort: typeof checkPort;
  readonly holderOfPort: typeof holderOfPort;
  /** Looks whether a live run listens on a port. */
  readonly findListener: (run: SampledRun, port: number) => Promise<PortFinding>;
  readonly prefetch: TemplatePrefetch;
  /** The calls to the master; undefined while the node is not connected. */
  readonly calls: () => CallPeer | undefined;
  /** Aborted when the operator ends the node with Ctrl-C: everything stops, and nothing desired changes. */
  readonly nodeStop: AbortSignal;
  /** The configurations that Ctrl-C ends later, because instances that wait for them (`waitsFor`) still live here. */
  readonly stopsLater: () => ReadonlySet<string>;
  readonly random: () => number;
}
