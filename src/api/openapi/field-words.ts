/**
 * The descriptions of fields whose schemas have none. `field-words.json` has words for names that mean the same wherever
 * they stand; `Owner.field` is for one component or operation. A test finds a field that has no words.
 */
import words from './field-words.json' with { type: 'json' };

const WORDS: Readonly<Record<string, string>> = words;

/** Components whose fields have the words of another one. */
const OWNERS: Readonly<Record<string, string>> = {
  ConfigurationInput: 'Configuration',
  InstanceDetails: 'Instance',
  InstanceExplanation: 'Instance',
  TemplateReferenceInput: 'TemplateReference',
};

type Part = Record<string, unknown>;

/** Gives every field and parameter of the document a description, where the tables have one. Returns the document. */
export function describeFields(document: unknown): unknown {
  const { components, paths } = partOf(document);
  for (const [name, schema] of Object.entries(partOf(partOf(components).schemas))) describeIn(schema, name);
  for (const item of Object.values(partOf(paths)))
    for (const operation of Object.values(partOf(item))) {
      const owner = String(partOf(operation).operationId);
      for (const parameter of listOf(partOf(operation).parameters))
        addWords(partOf(parameter), owner, String(partOf(parameter).name));
      describeIn(operation, owner);
    }
  return document;
}

/** Describes the fields of all schemas below a value. */
function describeIn(value: unknown, owner: string): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [field, schema] of Object.entries(partOf(partOf(value).properties)))
    addWords(partOf(schema), owner, field);
  for (const inner of Object.values(value)) describeIn(inner, owner);
}

function addWords(target: Part, owner: string, field: string): void {
  target.description ??= WORDS[`${OWNERS[owner] ?? owner}.${field}`] ?? WORDS[field];
}

function partOf(value: unknown): Part {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Part) : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
