/** Makes events of entries of the audit trail: who did what to instances and nodes. */
import type { AuditEntry } from './audit.js';
import type { NewEvent } from './event.js';

/** Deeds of people to instances and nodes, in the past tense. The words of commands and the targets of requests agree. */
const DEEDS: Readonly<Record<string, string>> = {
  start: 'started',
  stop: 'stopped',
  restart: 'restarted',
  delete: 'deleted',
  signal: 'sent a signal to',
  cordon: 'cordoned',
  uncordon: 'uncordoned',
  drain: 'drained',
  undrain: 'called off the drain of',
};
/** The requests with an instance or a node as their subject. Other changes show in records with their maker. */
const REQUESTS: Readonly<Record<string, string>> = {
  'POST /instances/:id/stop': 'stop',
  'POST /instances/:id/signal': 'signal',
  'DELETE /instances/:id': 'delete',
  'PUT /cluster/nodes/:id/cordon': 'cordon',
  'DELETE /cluster/nodes/:id/cordon': 'uncordon',
  'PUT /cluster/nodes/:id/drain': 'drain',
  'DELETE /cluster/nodes/:id/drain': 'undrain',
};
const LIFECYCLE = 'PATCH /instances/:id/lifecycle';

/** The event of an entry of the audit trail; undefined: the entry is no deed that people look for, or was refused. */
export function eventOfAction(
  { key, action, subject, result }: AuditEntry,
  configurationOf: (instance: string) => string | undefined,
): NewEvent | undefined {
  if (key === null || subject === null || !(result === 'ok' || result.startsWith('2'))) return undefined;
  const isCommand = action === 'command';
  const words = subject.split(' ');
  const word = isCommand
    ? words[1]
    : action === LIFECYCLE
      ? words[1]?.slice('target='.length)
      : REQUESTS[action];
  const deed = DEEDS[word?.toLowerCase() ?? ''];
  const id = isCommand ? words[2] : words[0];
  const isOfNode = isCommand ? words[0] === 'cluster' : action.includes('/cluster/nodes/');
  if (deed === undefined || id === undefined || (isCommand && !isOfNode && words[0] !== 'instance'))
    return undefined;
  if (isOfNode) return { kind: 'action', by: key, node: id, detail: deed };
  return { kind: 'action', by: key, configuration: configurationOf(id), instance: id, detail: deed };
}
