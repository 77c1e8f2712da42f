/** What a JSON schema allows at a place of a document. Pure: the editor uses it for completion. */

interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly required?: readonly string[];
}

/** A schema, and the document in which its `$ref` points: `#/components/schemas/NAME`. */
export interface SchemaSource {
  readonly root: JsonSchema;
  readonly named: Readonly<Record<string, JsonSchema>>;
}

export interface Offer {
  readonly label: string;
  /** The text that is inserted. */
  readonly text: string;
  /** A short note, such as `number, default 2048`. */
  readonly detail: string;
  readonly about?: string;
}

const REF = /^#\/components\/schemas\/([\w.-]+)$/;

/** The path of a place in a document: names of fields, and numbers for elements of lists. */
export type JsonPath = readonly (string | number)[];

/** The fields that the schema allows in the object at `path`, without those that are `present`. */
export function fieldsAt(source: SchemaSource, path: JsonPath, present: ReadonlySet<string>): Offer[] {
  return schemasAt(source, path).flatMap(({ properties = {}, required = [] }) =>
    Object.entries(properties)
      .filter(([name]) => !present.has(name))
      .map(([name, field]) => ({
        label: name,
        text: `${JSON.stringify(name)}: ${placeholder(source, field)}`,
        detail: [describe(source, field), ...(required.includes(name) ? ['required'] : [])].join(', '),
        ...(field.description !== undefined && { about: field.description }),
      })),
  );
}

/** The values that the schema allows at `path`. */
export function valuesAt(source: SchemaSource, path: JsonPath): Offer[] {
  const values = schemasAt(source, path).flatMap((schema): readonly unknown[] => {
    if (schema.enum !== undefined) return schema.enum;
    if (schema.const !== undefined) return [schema.const];
    if (schema.type === 'boolean') return [true, false];
    return schema.default === undefined ? [] : [schema.default];
  });
  return [...new Set(values.map((value) => JSON.stringify(value)))].map((text) => ({
    label: text,
    text,
    detail: '',
  }));
}

function schemasAt(source: SchemaSource, path: JsonPath): readonly JsonSchema[] {
  return path.reduce<readonly JsonSchema[]>(
    (schemas, part) => schemas.flatMap((schema) => unfold(source, below(schema, part))),
    unfold(source, source.root),
  );
}

function below({ properties, additionalProperties, items }: JsonSchema, part: string | number): JsonSchema {
  if (typeof part === 'number') return items ?? {};
  if (properties !== undefined && Object.hasOwn(properties, part)) return properties[part] ?? {};
  return typeof additionalProperties === 'object' ? additionalProperties : {};
}

function unfold(source: SchemaSource, schema: JsonSchema): readonly JsonSchema[] {
  const name = schema.$ref === undefined ? undefined : REF.exec(schema.$ref)?.[1];
  if (name !== undefined) return unfold(source, source.named[name] ?? {});
  return schema.anyOf === undefined ? [schema] : schema.anyOf.flatMap((one) => unfold(source, one));
}

function describe(source: SchemaSource, schema: JsonSchema): string {
  const kinds = unfold(source, schema).map((one) => one.type ?? typeof (one.const ?? one.enum?.[0] ?? {}));
  const { minimum, maximum, default: normal } = schema;
  return [
    [...new Set(kinds)].join(' or '),
    ...(minimum !== undefined && maximum !== undefined ? [`${minimum} to ${maximum}`] : []),
    ...(normal === undefined || typeof normal === 'object' ? [] : [`default ${String(normal)}`]),
  ].join(', ');
}

/** Returns a first value of the kind that the schema allows. */
function placeholder(source: SchemaSource, schema: JsonSchema): string {
  if (schema.default !== undefined && typeof schema.default !== 'object')
    return JSON.stringify(schema.default);
  const [first = {}] = unfold(source, schema);
  if (first.enum !== undefined) return JSON.stringify(first.enum[0]);
  switch (first.type) {
    case 'string':
      return '""';
    case 'boolean':
      return 'false';
    case 'array':
      return '[]';
    case 'object':
      return '{}';
    default:
      return String(first.minimum ?? 0);
  }
}
