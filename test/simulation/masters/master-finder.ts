/** How a node that is only a wrapper finds the master that leads: the real memory of masters over the machine's disk. */
import type { Transport } from '../../../src/channel/protocol/transport.js';
import type { SecretFile } from '../../../src/channel/trust/authority.js';
import { askMasters, KnownMasters, mastersServices } from '../../../src/channel/wrapper/known-masters.js';
import { DroverError } from '../../../src/model/errors.js';
import type { HostPort } from '../../../src/model/plain/host-port.js';
import type { Logger } from '../../../src/telemetry/logger.js';
import type { Uplink } from '../machine/daemon.js';
import type { Life } from '../machine/life.js';
import type { Machine } from '../machine/machine.js';

const WRITE_MS = 5;

interface MasterFinderOptions {
  readonly machine: Machine;
  readonly life: Life;
  /** The master that `config.json` names. */
  readonly contact: HostPort;
  readonly dial: (at: HostPort) => Promise<Transport>;
  /** Judges the term of a master that this node takes for its leader. */
  readonly onTaken: (epoch: number) => void;
  /** Judges what is written to the disk. */
  readonly onKept: (before: string | undefined, after: string) => void;
  readonly logger: Logger;
}

export function masterFinder(options: MasterFinderOptions): Uplink {
  const { contact, dial, logger, onTaken } = options;
  const known = new KnownMasters({ contact, file: keptMastersFile(options), logger });
  return {
    open: () => known.open(),
    connect: (signal) => askMasters(known, signal, (at) => dial(at)),
    masters: {
      pointed: (message) => known.pointed(message),
      fruitless: () => known.fruitless(),
      welcomed: (message) => {
        const objection = known.welcomed(message);
        if (objection === undefined && message.epoch !== undefined) onTaken(message.epoch);
        return objection;
      },
    },
    services: mastersServices(known),
  };
}

/** On the disk of the machine. */
export function keptMastersFile({
  machine,
  life,
  onKept,
}: Pick<MasterFinderOptions, 'machine' | 'life' | 'onKept'>): SecretFile {
  return {
    name: 'masters.json',
    read: async () => machine.keptMasters,
    write: (text) =>
      life.request('keeping the masters', life.random.between(0.1, WRITE_MS), () => {
        if (machine.disk.fullUntil === Number.POSITIVE_INFINITY)
          throw new DroverError('DRV_NODE_ROOT_UNUSABLE', 'the disk is full');
        onKept(machine.keptMasters, text);
        machine.keptMasters = text;
      }),
    remove: async () => {
      machine.keptMasters = undefined;
    },
  };
}
