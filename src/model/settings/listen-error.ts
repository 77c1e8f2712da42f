/** Says in one line why a node cannot listen, and what to change. Used by every listener. */
import { DroverError, invalidNodeConfiguration, messageOf } from '../errors.js';

interface Listener {
  /** The listener, for the message: `the API`. */
  readonly what: string;
  readonly host: string;
  readonly port: number;
  /** The fields of config.json for the port, and for the address where it can be set. */
  readonly portField: string;
  readonly addressField?: string;
}

/** Makes DRV_NODE_PORT_IN_USE or DRV_NODE_CONFIG_INVALID from a listen error; returns any other error unchanged. */
export function describeListenError(cause: unknown, listener: Listener): unknown {
  const { what, host, port, portField, addressField } = listener;
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  switch (code) {
    case 'EADDRINUSE':
      return new DroverError(
        'DRV_NODE_PORT_IN_USE',
        `${what} cannot listen: port ${port} on ${host} is in use; stop what holds it or set another ${portField} in config.json`,
        { cause },
      );
    case 'EACCES':
    case 'EADDRNOTAVAIL':
    case 'EAI_AGAIN':
    case 'ENOTFOUND': {
      const fields = addressField === undefined ? portField : `${addressField} and ${portField}`;
      return invalidNodeConfiguration(
        `${what} cannot listen on ${host}, port ${port} (${messageOf(cause)}): check ${fields} in config.json`,
        { cause },
      );
    }
    default:
      return cause;
  }
}
