/** Messages of a node over the channel, for tests that need some. */
import { type MessageOf, PROTOCOL_VERSION, type Report } from '../../../src/channel/protocol/messages.js';

/** The hello of the node alpha. */
export const HELLO: MessageOf<'hello'> = {
  type: 'hello',
  protocol: PROTOCOL_VERSION,
  nodeId: 'alpha',
  clusterName: 'test',
  address: '10.0.0.2',
  version: '1.2.3',
  capacity: { maxRamMB: 100, maxCpu: 200 },
  runtimes: [],
};

/** A report of an instance that is up. */
export function reportOf(id: string, fields: Partial<Report> = {}): Report {
  return {
    id,
    restartToken: 0,
    state: 'ONLINE',
    reason: null,
    message: null,
    pid: 42,
    restarts: 0,
    exitCode: null,
    exitSignal: null,
    busyPort: null,
    gone: false,
    ...fields,
  };
}
