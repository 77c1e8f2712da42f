/** Makes events of entries of the audit trail: who did what to instances and nodes. */
import type { AuditEntry } from './audit.js';
import type { NewEvent } from './event.js';
import { deedOf, pastOf, verbOf } from './plain/deed.js';

/** The deeds that are told. Other changes show in records with their maker. */
const TOLD: Readonly<Record<string, readonly string[]>> = {
  instances: ['start', 'stop', 'restart', 'delete', 'send a signal to'],
  nodes: ['cordon', 'uncordon', 'drain', 'call off the drain of'],
};
const NOUNS: Readonly<Record<string, string>> = { instance: 'instances', cluster: 'nodes' };

/** The event of an entry of the audit trail; undefined: the entry is no deed that people look for, or was refused. */
export function eventOfAction(
  { key, action, subject, result }: AuditEntry,
  configurationOf: (instance: string) => string | undefined,
): NewEvent | undefined {
  if (key === null || subject === null || !(result === 'ok' || result.startsWith('2'))) return undefined;
  const [group = '', word = '', named = ''] = subject.split(' ');
  const { verb, noun, name } =
    action === 'command'
      ? { verb: verbOf(word), noun: NOUNS[group] ?? '', name: named }
      : deedOf(action, subject);
  if (name === '' || TOLD[noun]?.includes(verb) !== true) return undefined;
  const of = noun === 'nodes' ? { node: name } : { configuration: configurationOf(name), instance: name };
  return { kind: 'action', by: key, ...of, detail: pastOf(verb) };
}
