/** The concerns of the cluster with what the page adds: the path that explains each, and the next step. Pure. */
import type { Concern } from '../../../explain/concerns.js';
import { isOfTemplate } from '../../../model/plain/template-fault.js';
import { apiPath } from '../../api/api-client.js';
import { hrefOf } from '../../router/place.js';
import { text } from './text.js';

/** The next step: a place to go to, or an action on an instance. */
export type Step =
  | { readonly kind: 'open'; readonly label: string; readonly href: string }
  | { readonly kind: 'restart'; readonly label: string; readonly id: string };

/** The API path that explains a concern; null: its text says all. */
export function whyPathOf({ kind, name }: Concern): string | null {
  if (isOfNode(kind)) return `/cluster${apiPath('nodes', name, 'why')}`;
  return kind === 'file' || kind === 'record' || kind === 'certificate'
    ? null
    : apiPath('configurations', name, 'why');
}

/** The next step; null: there is none on the page. `canOperate`: whether the key may restart instances. */
export function stepOf({ kind, name, instance }: Concern, canOperate: boolean): Step | null {
  if (isOfNode(kind)) return toOpen(text.openNodes, 'nodes', name);
  switch (kind) {
    case 'record':
    case 'certificate':
      return null;
    case 'file':
      return isOfTemplate({ file: name })
        ? toOpen(text.openTemplates, 'templates')
        : toOpen(text.openConfigurations, 'configurations');
    case 'broken-file':
      return toOpen(text.openConfiguration, 'configurations', name, 'edit');
    case 'failing':
      if (instance === null) break;
      return canOperate
        ? { kind: 'restart', label: text.restart, id: instance }
        : toOpen(text.openInstance, 'instances', instance);
    case 'not-placed':
      return toOpen(text.openNodes, 'nodes');
    case 'held-back':
    case 'rolling':
    case 'awaiting-promotion':
    case 'paused':
      return toOpen(text.openRollout, 'configurations', name);
    default:
  }
  return { kind: 'open', label: text.openInstances, href: hrefOf(['instances'], { find: name }) };
}

function isOfNode(kind: Concern['kind']): boolean {
  return kind.startsWith('node-');
}

function toOpen(label: string, ...path: string[]): Step {
  return { kind: 'open', label, href: hrefOf(path) };
}
