/** `drover context test`: asks the master for its identity, and what the key may do. */
import { failedError } from '../../command-tree/runs/client-error.js';
import { refusalOf } from '../connection/answers.js';
import type { ApiConnection } from '../connection/connection.js';
import { unreachable } from '../connection/failures.js';
import { isFields } from './context-file.js';
import { skewText } from './version-skew.js';

export interface ContextReport {
  readonly name: string;
  readonly url: string;
  readonly nodeId: string;
  readonly clusterName: string;
  /** The master's version of Drover; null: the master is too old to report it. */
  readonly version: string | null;
  readonly key: string | null;
  readonly scope: string | null;
  /** Name patterns of the configurations that the key may see; null: all configurations. */
  readonly configurations: readonly string[] | null;
  /** When the key expires, in unix milliseconds; null: never. */
  readonly expiresAt: number | null;
  /** Advice about the two versions; null: no advice. */
  readonly skew: string | null;
}

const NO_WHOAMI = 'the master is older than this client: it does not say what the key may do';

/** Throws a ClientError when the master is unreachable, is not a master, or refuses the key. */
export async function testConnection(connection: ApiConnection, version: string): Promise<ContextReport> {
  const ping = await connection.request('GET', '/ping');
  const { body } = ping;
  if (ping.status !== 200 || !isFields(body) || typeof body.nodeId !== 'string')
    throw (
      refusalOf(connection, ping) ?? unreachable(connection, 'what answers there is not the API of Drover')
    );
  const whoami = await connection.request('GET', '/whoami');
  const about = {
    name: connection.name,
    url: connection.url,
    nodeId: body.nodeId,
    clusterName: String(body.clusterName),
  };
  // An unknown route means the key is accepted: the API checks the key before it looks for the route.
  if (whoami.status === UNKNOWN_ROUTE) return { ...about, ...UNKNOWN, skew: NO_WHOAMI };
  const refusal = refusalOf(connection, whoami);
  if (refusal !== undefined) throw refusal;
  const caller = whoami.body;
  if (!isFields(caller)) throw failedError('the master does not say what the key may do');
  const master = textOf(caller.version);
  return {
    ...about,
    version: master,
    key: textOf(caller.key),
    scope: textOf(caller.scope),
    configurations: Array.isArray(caller.configurations) ? caller.configurations.map(String) : null,
    expiresAt: typeof caller.expiresAt === 'number' ? caller.expiresAt : null,
    skew: master === null ? null : (skewText(version, master) ?? null),
  };
}

const UNKNOWN_ROUTE = 404;
const UNKNOWN = { version: null, key: null, scope: null, configurations: null, expiresAt: null } as const;

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
