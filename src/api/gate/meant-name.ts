/**
 * Answers an unknown name with the name that was probably meant, among the names that the caller sees. Answers the id
 * of a record that cannot be read with the fault of the record.
 */
import type { Access } from '../../access/access.js';
import { meantName } from '../../configuration-files/nearest-name.js';
import {
  configurationNamed,
  type NamedKind,
  UnknownNameError,
  unreadableInstance,
} from '../../model/unknown.js';
import type { ApiDependencies } from '../dependencies.js';
import type { Actor } from './auth.js';

/** How many names are compared: the answer must stay cheap. */
const MOST_NAMES = 2000;

type MeantNameNeeds = Pick<ApiDependencies, 'instances' | 'configurations' | 'nodes' | 'keys'>;

/** The error to answer with. Any error but that of an unknown name is returned as it is. */
export function withMeantName(error: unknown, actor: Actor | null, needs: MeantNameNeeds): unknown {
  if (!(error instanceof UnknownNameError) || actor?.kind !== 'key') return error;
  const { kind, typed } = error;
  const aside = kind === 'instance' ? needs.instances.setAside.get(typed) : undefined;
  if (aside !== undefined) return unreadableInstance(typed, aside.problem);
  if (kind === 'instance' && needs.configurations.get(typed) !== undefined && actor.sees(typed))
    return configurationNamed(typed);
  const names: string[] = [];
  for (const name of namesSeen(kind, actor, needs)) if (names.push(name) === MOST_NAMES) break;
  const meant = meantName(typed, names);
  return meant === undefined ? error : new UnknownNameError(kind, typed, meant);
}

function* namesSeen(kind: NamedKind, access: Access, needs: MeantNameNeeds): Generator<string> {
  switch (kind) {
    case 'instance':
      for (const [id, { value }] of needs.instances.entries())
        if (value.desired.goal !== 'remove' && access.sees(value.configurationName)) yield id;
      return;
    case 'configuration':
      for (const [name] of needs.configurations.entries()) if (access.sees(name)) yield name;
      return;
    case 'node':
      for (const [id] of needs.nodes.entries()) yield id;
      return;
    case 'key':
      for (const [label] of needs.keys.entries()) yield label;
  }
}
