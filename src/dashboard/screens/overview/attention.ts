/** The concerns of the cluster with what the page adds: the icon, the path that explains each, and the next steps. Pure. */
import type { Concern } from '../../../explain/concerns.js';
import { isOfTemplate } from '../../../model/plain/template-fault.js';
import { apiPath } from '../../api/api-client.js';
import type { IconName } from '../../parts/icons.js';
import { hrefOf } from '../../router/place.js';
import { text } from './text.js';

/** A step: a place to go to, or a restart of an instance. */
export type Step =
  | { readonly kind: 'open'; readonly label: string; readonly href: string; readonly icon: IconName }
  | { readonly kind: 'restart'; readonly id: string };

const ICONS: Partial<Record<Concern['kind'], IconName>> = {
  'broken-file': 'file',
  failing: 'restart',
  'not-placed': 'unplaced',
  'held-back': 'back',
  rolling: 'rollout',
};

/** The kinds whose text says all, and that the page has no place for. */
const NO_PLACE: ReadonlySet<Concern['kind']> = new Set(['record', 'certificate', 'undelivered']);

/** The icon of a concern or a health; the tone's where the kind has none of its own. */
export function iconOf({ kind, tone }: Pick<Concern, 'kind' | 'tone'>): IconName {
  return ICONS[kind] ?? (isOfNode(kind) ? 'nodes' : tone);
}

/** The API path that explains a concern; null: its text says all. */
export function whyPathOf({ kind, name, instance }: Concern): string | null {
  if (isOfNode(kind)) return `/cluster${apiPath('nodes', name, 'why')}`;
  if (kind === 'file' || NO_PLACE.has(kind)) return null;
  return instance === null ? apiPath('configurations', name, 'why') : apiPath('instances', instance, 'why');
}

/** The place of what is not well; null: the page has none. */
export function hrefOfConcern({ kind, name }: Concern): string | null {
  if (isOfNode(kind)) return hrefOf(['nodes', name]);
  if (kind === 'file') return hrefOf([isOfTemplate({ file: name }) ? 'templates' : 'configurations']);
  return NO_PLACE.has(kind) ? null : hrefOf(['configurations', name]);
}

/** The next steps, the best one last. `canOperate`: whether the key may restart instances. */
export function stepsOf(concern: Concern, canOperate: boolean): Step[] {
  const { kind, name, instance } = concern;
  const open = (label: string, icon: IconName, ...path: string[]): Step => ({
    kind: 'open',
    label,
    icon,
    href: hrefOf(path),
  });
  const log = instance === null ? [] : [open(text.openLog, 'log', 'instances', instance)];
  const edit = open(text.edit, 'edit', 'configurations', name, 'edit');
  switch (kind) {
    case 'broken-file':
      return [open(text.openConfiguration, 'file', 'configurations', name, 'edit')];
    case 'failing':
      return [
        edit,
        ...log,
        ...(canOperate && instance !== null ? [{ kind: 'restart', id: instance } as const] : []),
      ];
    case 'not-placed':
      return [open(text.openNodes, 'nodes', 'nodes'), edit];
    case 'held-back':
    case 'rolling':
    case 'awaiting-promotion':
    case 'paused':
      return [open(text.openRollout, 'rollout', 'configurations', name)];
    default: {
      const href = hrefOfConcern(concern);
      return href === null ? [] : [{ kind: 'open', label: text.open, icon: iconOf(concern), href }];
    }
  }
}

function isOfNode(kind: Concern['kind']): boolean {
  return kind.startsWith('node-');
}
