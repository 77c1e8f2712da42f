/** Maps the main configuration of a Universe node (its `config.json`) to Drover's. Pure. */
import type { Content } from '../draft.js';
import { FieldNotes } from '../report.js';
import { listOf, membersOf, toName } from '../values.js';

/** What other files of this node add to its own `config.json`. */
export interface NodeFacts {
  readonly nodeId: string;
  /** The values for `%NAME%` that Universe gives to the instances of this node only. */
  readonly variables: Readonly<Record<string, unknown>>;
}

interface MappedNode {
  readonly content: Content;
  readonly fields: FieldNotes['reports'];
  readonly facts: NodeFacts;
}

/** The values that Universe takes for a missing field where Drover takes others. */
const DEFAULTS = {
  nodeId: 'node-1',
  clusterName: 'universe-cluster',
  maxRamMB: 8192,
  maxCpu: 400,
} as const;

/** Fields with the same name and meaning. */
const SAME = [
  'address',
  'port',
  'apiPort',
  'masterAddress',
  'masterPort',
  'masterApiPort',
  'debug',
  'maxRamMB',
  'maxCpu',
] as const;

const NAMES = ['nodeId', 'clusterName'] as const;

type Rule = (value: unknown, notes: FieldNotes, members: Content) => Content;

const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ...SAME.map((field): [string, Rule] => [field, (value, notes) => take(field, value, notes)]),
  ...NAMES.map((field): [string, Rule] => [field, (value, notes) => takeName(field, value, notes)]),
  [
    'isMasterNode',
    (value, notes) => {
      if (value !== false) return take('isMasterNode', value, notes);
      const note =
        'a wrapper joins with a token: make one on the master (drover token), then type drover join TOKEN --master HOST:PORT here. It reads no configurations and templates of its own: import them on the master';
      notes.changed('isMasterNode', note);
      return { isMasterNode: false };
    },
  ],
  [
    'bindAddress',
    (value, notes) => {
      notes.changed('bindAddress', 'in Drover the REST API listens there too, not only the cluster port');
      return { bindAddress: value };
    },
  ],
  [
    'publicAddress',
    (value, notes, { address }) => {
      const note =
        'others reach a node of Drover at `address`, and the master at `masterAddress` of the node';
      if (value === address) notes.taken('publicAddress');
      else notes.left('publicAddress', note);
      return {};
    },
  ],
  [
    'nodeSpecificVariables',
    (_value, notes) => {
      const note = 'become `properties` of the configurations that this node alone may run';
      notes.changed('nodeSpecificVariables', note);
      return {};
    },
  ],
  [
    'updateSources',
    (value, notes) => {
      const note =
        'Drover downloads no files of its own: let git or cron change them, it takes them up at once; for templates there are storages';
      if (listOf(value)?.length === 0) notes.taken('updateSources');
      else notes.left('updateSources', note);
      return {};
    },
  ],
]);

/** Maps the members of the file. `input` is empty when there is no file: Universe takes its defaults then. */
export function mapNode(input: Content): MappedNode {
  const notes = new FieldNotes();
  let content: Content = {};
  for (const [field, value] of Object.entries(input)) {
    const rule = RULES.get(field);
    if (rule === undefined) notes.left(field, 'neither Universe nor Drover has such a field');
    else content = { ...content, ...rule(value, notes, input) };
  }
  for (const [field, value] of Object.entries(DEFAULTS)) {
    if (field in input) continue;
    notes.added(field, `${value}, as Universe takes it where the field is missing`);
    content = { ...content, [field]: value };
  }
  const nodeId = typeof content.nodeId === 'string' ? content.nodeId : DEFAULTS.nodeId;
  const variables = membersOf(input.nodeSpecificVariables) ?? {};
  return { content, fields: notes.reports, facts: { nodeId, variables } };
}

function take(field: string, value: unknown, notes: FieldNotes): Content {
  notes.taken(field);
  return { [field]: value };
}

function takeName(field: string, value: unknown, notes: FieldNotes): Content {
  const name = typeof value === 'string' ? (toName(value) ?? value) : value;
  if (name === value) notes.taken(field);
  else notes.changed(field, `${JSON.stringify(value)} is ${String(name)}: names have no other characters`);
  return { [field]: name };
}
