/** Maps the main configuration of a Universe node (its `config.json`) to Drover's. Pure. */
import type { Content, Mapped, NodeDraft } from '../draft.js';
import { FieldNotes } from '../report.js';
import { listOf, membersOf, notedName } from '../values.js';

/** What other files of this node add to its own `config.json`. */
export interface NodeFacts {
  readonly nodeId: string;
  /** The values for `%NAME%` that Universe gives to the instances of this node only. */
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Universe's defaults for missing fields, where they differ from Drover's. */
const DEFAULTS = { nodeId: 'node-1', clusterName: 'universe-cluster', maxRamMB: 8192, maxCpu: 400 } as const;

/** Fields with the same name and meaning. */
const SAME: ReadonlySet<string> = new Set(
  'address port apiPort masterAddress masterPort masterApiPort debug maxRamMB maxCpu'.split(' '),
);

/** Maps the members of the file. `input` is empty when there is no file: Universe takes its defaults then. */
export function mapNode(input: Content): Mapped<NodeDraft> & { readonly facts: NodeFacts } {
  const notes = new FieldNotes();
  let content: Content = {};
  for (const [field, value] of Object.entries(input))
    content = { ...content, ...mapField(field, value, input, notes) };
  for (const [field, value] of Object.entries(DEFAULTS)) {
    if (field in input) continue;
    notes.added(field, `${value}, as Universe takes it where the field is missing`);
    content = { ...content, [field]: value };
  }
  const nodeId = typeof content.nodeId === 'string' ? content.nodeId : DEFAULTS.nodeId;
  const variables = membersOf(input.nodeSpecificVariables) ?? {};
  return { content, fields: notes.reports, facts: { nodeId, variables } };
}

function mapField(field: string, value: unknown, { address }: Content, notes: FieldNotes): Content {
  switch (field) {
    case 'nodeId':
    case 'clusterName':
      return { [field]: notedName(field, value, notes) };
    case 'isMasterNode':
      if (value === false)
        notes.changed(
          field,
          'a wrapper joins with a token: make one on the master (drover token), then type drover join TOKEN --master HOST:PORT here. It reads no configurations and templates of its own: import them on the master',
        );
      else notes.taken(field);
      return { isMasterNode: value };
    case 'bindAddress':
      notes.changed(field, 'in Drover the REST API listens there too, not only the cluster port');
      return { bindAddress: value };
    case 'publicAddress':
      if (value === address) notes.taken(field);
      else
        notes.left(
          field,
          'others reach a node of Drover at `address`, and the master at `masterAddress` of the node',
        );
      return {};
    case 'nodeSpecificVariables':
      notes.changed(field, 'become `properties` of the configurations that this node alone may run');
      return {};
    case 'updateSources':
      if (listOf(value)?.length === 0) notes.taken(field);
      else
        notes.left(
          field,
          'Drover downloads no files of its own: let git or cron change them, it takes them up at once; for templates there are storages',
        );
      return {};
    default:
      if (SAME.has(field)) notes.taken(field);
      else notes.left(field, 'neither Universe nor Drover has such a field');
      return SAME.has(field) ? { [field]: value } : {};
  }
}
