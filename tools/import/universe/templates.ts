/** Maps `templateInstallationConfig` of Universe to Drover's. Pure. */
import { LOCAL_STORAGE } from '../../../src/model/template.js';
import type { Content } from '../draft.js';
import type { FieldNotes } from '../report.js';
import { listOf, membersOf, nameOr, toNames } from '../values.js';

const FIELD = 'templateInstallationConfig';

/** Maps the field. `present`: the local templates as `group/name`, with the names that Drover gives them. */
export function mapTemplates(value: unknown, present: ReadonlySet<string>, notes: FieldNotes): unknown {
  const members = membersOf(value);
  if (members === undefined) {
    notes.taken(FIELD);
    return value;
  }
  const entries = Object.entries(members).flatMap(([key, part]) => mapPart(key, part, present, notes));
  return Object.fromEntries(entries);
}

function mapPart(
  key: string,
  part: unknown,
  present: ReadonlySet<string>,
  notes: FieldNotes,
): [key: string, value: unknown][] {
  const field = `${FIELD}.${key}`;
  const list = listOf(part);
  switch (key) {
    case 'allOf':
    case 'oneOf':
      return [[key, list === undefined ? part : mapReferences(field, list, present, notes)]];
    case 'allInGroups':
    case 'oneInGroups':
      return [[key, list === undefined ? part : toNames(field, list, notes)]];
    case 'onTemplatePasteOverridePresentFiles':
      notes.taken(field);
      return [[key, part]];
    default:
      notes.left(field, 'neither Universe nor Drover has such a field');
      return [];
  }
}

function mapReferences(
  field: string,
  references: readonly unknown[],
  present: ReadonlySet<string>,
  notes: FieldNotes,
): unknown {
  const mapped = references.map((reference) => mapReference(membersOf(reference)));
  const remarks = new Set([
    ...mapped.flatMap(({ remark }) => remark ?? []),
    ...mapped.flatMap(({ content }) => remarksOn(content, present)),
    ...ties(mapped.map(({ content }) => content)),
  ]);
  if (remarks.size === 0) notes.taken(field);
  for (const remark of remarks) notes.changed(field, remark);
  return mapped.map(({ content }, index) => content ?? references[index]);
}

function mapReference(reference: Content | undefined): { content?: Content; remark?: string } {
  if (reference === undefined) return {};
  const group = nameOr(reference.group);
  const name = nameOr(reference.name);
  const content = { storage: LOCAL_STORAGE, priority: 0, ...reference, group, name };
  const isRenamed = group !== reference.group || name !== reference.name;
  return isRenamed
    ? {
        content,
        remark: `${String(reference.group)}/${String(reference.name)} is ${String(group)}/${String(name)}`,
      }
    : { content };
}

function remarksOn(content: Content | undefined, present: ReadonlySet<string>): string[] {
  if (content === undefined) return [];
  const path = `${String(content.group)}/${String(content.name)}`;
  if (content.storage !== LOCAL_STORAGE)
    return [
      `${path} comes from the storage ${String(content.storage)}: set it up in Drover. Universe keeps a template there as one zip, Drover its files`,
    ];
  return present.has(path)
    ? []
    : [`templates/${path} is not there: Universe passes over it, instances of Drover wait for it`];
}

/** Notes templates of equal priority: Universe orders them by the list, Drover by their names. */
function ties(contents: readonly (Content | undefined)[]): string[] {
  const priorities = contents.flatMap((content) => (content === undefined ? [] : [content.priority]));
  return new Set(priorities).size === priorities.length
    ? []
    : [
        'some have the same priority: where they hold the same file, Drover takes the one whose group and name come last; give them different ones',
      ];
}
