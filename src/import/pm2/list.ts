/** Maps a whole list of pm2, in any of its JSON forms. Pure. */
import { ClientError, EXIT } from '../../command-tree/runs/client-error.js';
import type { Content, Draft, Drafts } from '../draft.js';
import { listOf, membersOf } from '../values.js';
import { appOf, type Pm2App } from './app.js';
import { type MappedApp, mapApp, type Pm2Facts } from './configuration.js';
import { environmentFields } from './environment.js';
import { mergeApps } from './merge.js';

/**
 * The drafts. `value`: the parsed file. Throws a ClientError for a value that is no list, and for an environment that
 * no app has.
 */
export function mapList(value: unknown, facts: Pm2Facts): Drafts {
  const { apps, rest } = entriesIn(value);
  const known = apps.map((entry, index) => ({ from: `apps[${index}]`, app: appOf(entry, `apps[${index}]`) }));
  refuseUnknownEnvironment(
    known.flatMap(({ app }) => app ?? []),
    facts.environment,
  );
  const mapped: MappedApp[] = [];
  const refused: Draft[] = [];
  const notes = Object.keys(rest).map((field) => `${field}: has no counterpart in Drover`);
  for (const { from, app } of known) {
    if (app?.fields.pmx_module === true) {
      notes.push(`${from}: a module of pm2, which does nothing in Drover`);
      continue;
    }
    const result = app === undefined ? 'it must be an object in { }' : mapApp(app, facts);
    if (typeof result === 'string')
      refused.push({ kind: 'refused', what: 'configuration', from, to: '', reason: result });
    else mapped.push(result);
  }
  return { drafts: [...mergeApps(mapped), ...refused], notes };
}

/** The apps of the file, and the fields beside them. */
function entriesIn(value: unknown): { readonly apps: readonly unknown[]; readonly rest: Content } {
  const list = listOf(value);
  if (list !== undefined) return { apps: list, rest: {} };
  const members = membersOf(value);
  if (members === undefined)
    throw new ClientError(EXIT.failed, 'the file must hold {"apps": [...]}, or a list of apps');
  // pm2 takes a single app without a list, too.
  if (members.apps === undefined) return { apps: [members], rest: {} };
  const { apps, ...rest } = members;
  return { apps: listOf(apps) ?? [apps], rest };
}

function refuseUnknownEnvironment(apps: readonly Pm2App[], name: string | undefined): void {
  if (name === undefined) return;
  const names = new Set(apps.flatMap(({ fields }) => environmentFields(fields)));
  if (names.has(`env_${name}`)) return;
  const known = names.size === 0 ? 'it has none of the kind' : `it has ${[...names].join(', ')}`;
  throw new ClientError(EXIT.usage, `--env ${name}: no app of the file has env_${name}; ${known}`);
}
