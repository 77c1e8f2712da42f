/** Maps a whole list of apps of pm2, in any of its JSON forms. Pure. */
import { failedError, usageError } from '../../../src/command-tree/runs/client-error.js';
import { canonicalJson } from '../../../src/model/configuration.js';
import type { ConfigurationDraft, Content, Draft, Drafts } from '../draft.js';
import { FieldNotes } from '../report.js';
import { listOf, membersOf } from '../values.js';
import { appOf, type Pm2App } from './app.js';
import { type MappedApp, mapApp, type Pm2Facts } from './configuration.js';
import { environmentFields } from './environment.js';

/**
 * Returns the drafts. `value`: the parsed file. Throws a ClientError for a value that is no list, and when no app
 * has the requested environment.
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
  if (members === undefined) throw failedError('the file must hold {"apps": [...]}, or a list of apps');
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
  throw usageError(`--env ${name}: no app of the file has env_${name}; ${known}`);
}

const LARGEST_PORT = 65_535;

/** Makes one configuration of all apps with the same name and content, in the order in which these first appear. */
function mergeApps(apps: readonly MappedApp[]): ConfigurationDraft[] {
  const groups = new Map<string, MappedApp[]>();
  for (const app of apps) {
    const key = canonicalJson([app.name, app.content]);
    groups.set(key, [...(groups.get(key) ?? []), app]);
  }
  const names = new Set<string>();
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const name = freeName(first.name, names);
    names.add(name);
    return [draftOf(name, first, group)];
  });
}

/** A name that is not taken yet, because pm2 lets different apps have the same name. */
function freeName(name: string, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? name : `${name.slice(0, 60)}-${number}`;
    if (!taken.has(candidate)) return candidate;
  }
}

function draftOf(name: string, first: MappedApp, group: readonly MappedApp[]): ConfigurationDraft {
  const notes = new FieldNotes();
  const count = group.reduce((sum, app) => sum + app.count, 0);
  if (name !== first.name) notes.changed('name', `${name}, because another app is called ${first.name}`);
  if (group.length > 1) notes.changed('processes', `${group.length} of the same kind are one configuration`);
  const content = { ...first.content, minimumServiceCount: count, ...portsOf(group, count, notes) };
  const from = group.map((app) => app.from).join(', ');
  return { kind: 'configuration', from, name, content, fields: [...first.notes.reports, ...notes.reports] };
}

/**
 * The port range: from the lowest port on, one port for each process. It is widened to hold every port that a
 * process had.
 */
function portsOf(group: readonly MappedApp[], count: number, notes: FieldNotes): Content {
  const ports = group.flatMap(({ port }) => port ?? []);
  if (ports.length === 0) return {};
  const min = Math.min(...ports);
  const max = Math.min(LARGEST_PORT, Math.max(...ports, min + Math.max(1, count) - 1));
  notes.changed(
    'PORT',
    `availablePorts ${min} to ${max}: Drover gives each instance one of them, in the variable PORT`,
  );
  return { availablePorts: { min, max } };
}
