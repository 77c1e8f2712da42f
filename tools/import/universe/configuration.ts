/** Maps one instance configuration of Universe (a file of `configuration/`) to Drover's. Pure. */
import { configurationSchema } from '../../../src/model/configuration.js';
import { isBuiltInVariable, placeholderNames } from '../../../src/model/names.js';
import type { ConfigurationDraft, Content, Mapped } from '../draft.js';
import { FieldNotes } from '../report.js';
import { listOf, membersOf, notedName, noteVariables, toNames, variableMapOf } from '../values.js';
import type { NodeFacts } from './node.js';
import { mapTemplates } from './templates.js';

export interface UniverseFacts {
  readonly node: NodeFacts;
  /** The local templates as `group/name`, with the names that Drover gives them. */
  readonly templates: ReadonlySet<string>;
  /** The names of the directories in `static/`. */
  readonly staticDirectories: ReadonlySet<string>;
}

/** Universe's defaults for missing fields, where they differ from Drover's. */
const DEFAULTS: Content = {
  name: 'default',
  nodes: ['node-1'],
  hostAddress: '127.0.0.1',
  availablePorts: { min: 25_565, max: 25_570 },
  environmentVariables: { UNIVERSE_INSTANCE_ID: '%INSTANCE_ID%' },
};

/**
 * Universe writes `stop` to every instance, and kills the instance 30 s later. Drover sends a signal after half of
 * the time, so 60 s give an instance the same 30 s.
 */
const STOPPING = { stopCommand: 'stop', stopTimeoutSeconds: 60 };

/** Syntax that bash knows and other shells do not, as far as a pattern can tell. */
const BASH_ONLY = /\[\[|<\(|>\(|<<<|\$'|&>|\|&|(?:^|[;&|]\s*)(?:source|declare|shopt)\s/;

interface Work {
  readonly notes: FieldNotes;
  readonly facts: UniverseFacts;
  /** All fields of the file, with the defaults. */
  readonly input: Content;
}

type Rule = (value: unknown, work: Work) => Content;

const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['name', (value, { notes }) => ({ name: notedName('name', value, notes) })],
  ['command', mapCommand],
  ['static', mapStatic],
  ['nodes', mapNodes],
  ['runtime', mapRuntime],
  ['instanceGroups', (value, { notes }) => ({ instanceGroups: named('instanceGroups', value, notes) })],
  ['fileModifications', mapFileModifications],
  ['environmentVariables', mapEnvironment],
  ['properties', (value, { notes }) => ({ properties: mapVariables('properties', value, notes) ?? value })],
  [
    'templateInstallationConfig',
    (value, { notes, facts }) => ({
      templateInstallationConfig: mapTemplates(value, facts.templates, notes),
    }),
  ],
  ['additionalPorts', mapAdditionalPorts],
  ...['ramMB', 'cpu', 'hostAddress', 'availablePorts', 'minimumServiceCount'].map((field): [string, Rule] => [
    field,
    (value, { notes }) => {
      notes.taken(field);
      return { [field]: value };
    },
  ]),
]);

/** Maps the members of the file. A value that does not fit stays as it is, so that the schema later names its place. */
export function mapConfiguration(members: Content, facts: UniverseFacts): Mapped<ConfigurationDraft> {
  const notes = new FieldNotes();
  const work: Work = { notes, facts, input: { ...DEFAULTS, ...members } };
  const known = Object.keys(members).filter((field) => RULES.has(field));
  let content = contentOf(known, work);
  for (const field of Object.keys(members))
    if (!RULES.has(field)) notes.left(field, 'neither Universe nor Drover has such a field');
  const missing = Object.keys(DEFAULTS).filter((field) => !(field in members));
  const silent: Work = { ...work, notes: new FieldNotes() };
  content = { ...content, ...contentOf(missing, silent), ...STOPPING };
  for (const field of missing) notes.added(field, 'as Universe takes it where the field is missing');
  notes.added(
    'stopCommand, stopTimeoutSeconds',
    'Universe writes "stop" to every instance and gives it 30 s; remove them where the program does not know "stop": it would get its signal only then',
  );
  content = { ...content, ...withNodeVariables(content, work) };
  return { name: typeof content.name === 'string' ? content.name : '', content, fields: notes.reports };
}

function contentOf(fields: readonly string[], work: Work): Content {
  return Object.assign({}, ...fields.map((field) => RULES.get(field)?.(work.input[field], work)));
}

function mapCommand(value: unknown, { notes, input }: Work): Content {
  const properties = membersOf(input.properties) ?? {};
  const command = typeof value === 'string' ? value : '';
  const replaced = placeholderNames(command).filter((name) => isBuiltInVariable(name) || name in properties);
  if (BASH_ONLY.test(command))
    notes.changed(
      'command',
      "Universe ran it by bash, Drover runs it by /bin/sh, which does not know all of it: write bash -c '...'",
    );
  if (replaced.length > 0)
    notes.changed('command', `Drover replaces ${percent(replaced)} here, Universe did not`);
  if (!BASH_ONLY.test(command) && replaced.length === 0) notes.taken('command');
  return { command: value };
}

function mapStatic(value: unknown, { notes, facts, input }: Work): Content {
  const name = typeof input.name === 'string' ? input.name : '';
  if (value !== true) notes.taken('static');
  else if (facts.staticDirectories.has(name))
    notes.changed(
      'static',
      `its files in static/${name} are not taken along: start Drover, stop the instance (drover instance stop ID), copy them into running/ID of the root, and start it again`,
    );
  else
    notes.changed(
      'static',
      'each instance has a directory of its own, and its templates are installed there',
    );
  return { static: value };
}

function mapNodes(value: unknown, { notes }: Work): Content {
  if (listOf(value)?.length !== 0) return { nodes: named('nodes', value, notes) };
  notes.changed('nodes', 'empty: no node in Universe, any node in Drover');
  return { nodes: value };
}

function mapRuntime(value: unknown, { notes }: Work): Content {
  if (value === 'k8s')
    notes.changed('runtime', 'Drover has no runtime "k8s": instances wait until the file names another one');
  else notes.taken('runtime');
  return { runtime: value };
}

function named(field: string, value: unknown, notes: FieldNotes): unknown {
  const values = listOf(value);
  if (values === undefined) notes.taken(field);
  return values === undefined ? value : toNames(field, values, notes);
}

/** Writes the paths plain and relative, as Drover requires. Universe also takes `./a` and `a\b`. */
function mapFileModifications(value: unknown, { notes }: Work): Content {
  const paths = listOf(value);
  const plain = paths?.map((path) =>
    typeof path === 'string' ? path.replaceAll('\\', '/').replace(/^(?:\.\/+)+/, '') : path,
  );
  if (paths?.some((path, index) => path !== plain?.[index]) === true)
    notes.changed('fileModifications', 'paths are written without "./" and with forward slashes');
  else notes.taken('fileModifications');
  return { fileModifications: plain ?? value };
}

function mapEnvironment(value: unknown, { notes, facts, input }: Work): Content {
  const variables = mapVariables('environmentVariables', value, notes);
  if (variables === undefined) return { environmentVariables: value };
  const properties = { ...facts.node.variables, ...membersOf(input.properties) };
  const unknown = Object.entries(variables).flatMap(([key, text]) => {
    const names = placeholderNames(text).filter((name) => !isBuiltInVariable(name) && !(name in properties));
    return names.length === 0 ? [] : [`${key} (${percent(names)})`];
  });
  if (unknown.length > 0)
    notes.changed(
      `environmentVariables: ${unknown.join(', ')}`,
      'has no value in Drover: add it to properties',
    );
  return { environmentVariables: variables };
}

/** Returns the variables as texts, and notes what was changed; undefined: the value is no map of variables. */
function mapVariables(
  field: string,
  value: unknown,
  notes: FieldNotes,
): Readonly<Record<string, string>> | undefined {
  const members = membersOf(value);
  if (members === undefined) return undefined;
  const map = variableMapOf(members);
  noteVariables(field, map, notes);
  return map.values;
}

function mapAdditionalPorts(value: unknown, { notes }: Work): Content {
  const ports = new Map<string, Content>();
  for (const one of listOf(value) ?? []) {
    const { port, protocol = 'TCP', name = '' } = membersOf(one) ?? {};
    const plain = String(name)
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^[^a-z]+|-$/g, '');
    const wanted = { min: port, max: port, protocol: String(protocol).toLowerCase() };
    const free = [plain, `port-${port}`, `${plain}-${port}`].find((key) => {
      const all = { ports: { ...Object.fromEntries(ports), [key]: wanted } };
      return (
        !ports.has(key) && configurationSchema.safeParse({ name: 'none', command: 'none', ...all }).success
      );
    });
    if (free === undefined)
      notes.left('additionalPorts', `${port} ${name}: it stands there twice, or is no TCP or UDP port`);
    else ports.set(free, wanted);
  }
  if (ports.size === 0) notes.taken('additionalPorts');
  else
    notes.changed(
      'additionalPorts',
      `ports ${[...ports.keys()].join(', ')}: Drover gives each to one instance of an address at a time; widen min and max for more instances`,
    );
  return ports.size === 0 ? {} : { ports: Object.fromEntries(ports) };
}

/** Adds the variables of the node as properties, if the configuration can run on this node only. */
function withNodeVariables(content: Content, { notes, facts }: Work): Content {
  const { nodeId, variables } = facts.node;
  const own = membersOf(content.properties) ?? {};
  const { values } = variableMapOf(variables);
  const missing = Object.keys(values).filter((name) => !(name in own) && !isBuiltInVariable(name));
  if (missing.length === 0) return {};
  const nodes = listOf(content.nodes) ?? [];
  if (nodes.length !== 1 || nodes[0] !== nodeId) {
    notes.left(
      `nodeSpecificVariables: ${missing.join(', ')}`,
      `other nodes than ${nodeId} may run it too, and a property has one value for all of them: add what it needs to properties`,
    );
    return {};
  }
  notes.added(`properties: ${missing.join(', ')}`, `from nodeSpecificVariables of ${nodeId}`);
  return { properties: { ...Object.fromEntries(missing.map((name) => [name, values[name]])), ...own } };
}

function percent(names: readonly string[]): string {
  return [...new Set(names)].map((name) => `%${name}%`).join(', ');
}
