/** Merges mapped apps and processes of one name and content into one configuration. Pure. */
import { canonicalJson } from '../../model/configuration.js';
import type { ConfigurationDraft, Content } from '../draft.js';
import { FieldNotes } from '../report.js';
import type { MappedApp } from './configuration.js';

const LARGEST_PORT = 65_535;

/** The configurations, in the order in which their names first appear. */
export function mergeApps(apps: readonly MappedApp[]): ConfigurationDraft[] {
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

/** As many ports as there are processes, from the lowest on; the range also holds every port that a process had. */
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
