/**
 * Decides which templates an instance gets, from its configuration, the master's groups and the storages. Pure.
 * Placement calls it once for each instance and records the answer.
 */
import { createHash } from 'node:crypto';
import type { PlacedTemplate } from '../../model/instance.js';
import { LOCAL_STORAGE, type TemplateInstallation, type TemplateReference } from '../../model/template.js';
import type { StoredGroup } from '../storage/storage-groups.js';
import type { StoredTemplate } from '../storage/storage-provider.js';

/** The priority of a template that a whole group brings, when the group has no priority. */
const GROUP_PRIORITY = 0;

const NOTHING: StoredGroup = { templates: [], problems: [] };

interface TemplateChoice {
  /** The chosen templates in the order of installation: priority ascending, then group and name. */
  readonly templates: PlacedTemplate[];
  /** A sentence for a person about each template that could not be chosen. Empty when all could. */
  readonly problems: string[];
}

/** The groups and storages to choose from. */
interface TemplateOffer {
  /** The local groups and the names of their templates. */
  readonly groups: ReadonlyMap<string, readonly string[]>;
  /** The keys of the registered storages. */
  readonly storages: readonly string[];
  /** The templates that storages have in a group. Absent: none. */
  readonly stored?: (group: string) => StoredGroup | undefined;
}

/**
 * Draws `oneOf` and `oneInGroups` by a hash of the instance id: evenly over many instances, and the same at every call.
 * A template that is named twice is installed once. A template's own priority beats that of its group; of several own
 * priorities the highest wins.
 */
export function chooseTemplates(
  installation: TemplateInstallation,
  instanceId: string,
  offer: TemplateOffer,
): TemplateChoice {
  const choice = new Choice(instanceId, offer);
  for (const reference of installation.allOf) choice.addReference(reference);
  choice.addOneOf(installation.oneOf);
  for (const group of installation.allInGroups) choice.addGroup(group);
  for (const group of installation.oneInGroups) choice.addOneInGroup(group);
  return choice.result();
}

class Choice {
  readonly #instanceId: string;
  readonly #offer: TemplateOffer;
  readonly #written = new Map<string, PlacedTemplate>();
  readonly #grouped = new Map<string, PlacedTemplate>();
  readonly #problems = new Set<string>();

  constructor(instanceId: string, offer: TemplateOffer) {
    this.#instanceId = instanceId;
    this.#offer = offer;
  }

  addReference({ group, name, storage, priority }: TemplateReference): void {
    const { storages } = this.#offer;
    if (storage !== LOCAL_STORAGE && !storages.includes(storage)) {
      this.#problems.add(`template ${group}/${name}: ${unknownStorage(storage, storages)}`);
      return;
    }
    const key = keyOf({ group, name, storage });
    const known = this.#written.get(key);
    if (known === undefined || known.priority < priority)
      this.#written.set(key, { group, name, storage, priority });
  }

  addOneOf(references: readonly TemplateReference[]): void {
    const chosen = references[this.#draw('', references.length)];
    if (chosen !== undefined) this.addReference(chosen);
  }

  addGroup(group: string): void {
    for (const template of this.#templatesIn(group)) this.#addGrouped(template);
  }

  addOneInGroup(group: string): void {
    const templates = this.#templatesIn(group);
    const chosen = templates[this.#draw(group, templates.length)];
    if (chosen !== undefined) this.#addGrouped(chosen);
  }

  result(): TemplateChoice {
    const templates = [...new Map([...this.#grouped, ...this.#written]).values()];
    return { templates: templates.sort(compareTemplates), problems: [...this.#problems] };
  }

  #addGrouped({ group, name, storage }: StoredTemplate): void {
    const template = { group, name, storage, priority: GROUP_PRIORITY };
    this.#grouped.set(keyOf(template), template);
  }

  /**
   * The templates of a group, by name. A local one stands before those of the same name in storages, and of several
   * storages the first by key counts.
   */
  #templatesIn(group: string): StoredTemplate[] {
    const local = this.#offer.groups.get(group);
    const { templates, pending, problems } = this.#offer.stored?.(group) ?? NOTHING;
    if (pending !== undefined) {
      this.#problems.add(pending);
      return [];
    }
    const byName = new Map<string, StoredTemplate>();
    for (const template of templates) if (!byName.has(template.name)) byName.set(template.name, template);
    for (const name of local ?? []) byName.set(name, { storage: LOCAL_STORAGE, group, name });
    if (byName.size === 0) this.#problems.add([emptiness(group, local), ...problems].join('; '));
    return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** An index into a list of `length`, drawn by instance id and `salt`; 0 for an empty list. */
  #draw(salt: string, length: number): number {
    if (length === 0) return 0;
    const hash = createHash('sha256').update(`${this.#instanceId}/${salt}`).digest();
    return hash.readUInt32BE(0) % length;
  }
}

function emptiness(group: string, local: readonly string[] | undefined): string {
  return local === undefined
    ? `there is no template group ${group}`
    : `the template group ${group} holds no template`;
}

/** The end of a problem, such as `storage x is not registered; registered are: a, b`. */
export function unknownStorage(storage: string, registered: readonly string[]): string {
  const known = registered.length === 0 ? 'none is' : `registered are: ${registered.join(', ')}`;
  return `storage ${storage} is not registered; ${known} (extensions bring storages, local is templates/ itself)`;
}

/** Group, name and storage, so that the keys are in the order of these fields. */
function keyOf({ group, name, storage }: Omit<PlacedTemplate, 'priority'>): string {
  return [group, name, storage].join('\0');
}

function compareTemplates(a: PlacedTemplate, b: PlacedTemplate): number {
  return a.priority - b.priority || (keyOf(a) < keyOf(b) ? -1 : 1);
}
