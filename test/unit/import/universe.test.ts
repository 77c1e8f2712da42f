/** The mapping of Universe's files, as tables: fields in, fields and what is said of them out. */
import { expect, it } from 'vitest';
import type { FieldReport } from '../../../tools/import/report.js';
import { mapConfiguration, type UniverseFacts } from '../../../tools/import/universe/configuration.js';
import { mapNode } from '../../../tools/import/universe/node.js';

const FACTS: UniverseFacts = {
  node: { nodeId: 'node-1', variables: {} },
  templates: new Set(['default/server', 'lobby/My-World']),
  staticDirectories: new Set(['survival']),
};
/** Complete, so that nothing is added for it but how it stops. */
const LOBBY = {
  name: 'lobby',
  command: 'java -jar server.jar',
  nodes: ['node-1'],
  hostAddress: '127.0.0.1',
  availablePorts: { min: 25_600, max: 25_700 },
  environmentVariables: {},
};

/** What is said beside `taken`, without the notes. */
function said(fields: readonly FieldReport[]): string[] {
  return fields.flatMap(({ field, outcome }) => (outcome === 'taken' ? [] : [`${outcome} ${field}`]));
}

const STOPPING = 'added stopCommand, stopTimeoutSeconds';

it('takes a configuration as it is, and gives it the stop that Universe had', () => {
  const fields = {
    runtime: 'tmux',
    static: false,
    ramMB: 512,
    cpu: 50,
    minimumServiceCount: 3,
    properties: {},
  };
  const { name, content, fields: reports } = mapConfiguration({ ...LOBBY, ...fields }, FACTS);
  expect(name).toBe('lobby');
  expect(content).toEqual({ ...LOBBY, ...fields, stopCommand: 'stop', stopTimeoutSeconds: 60 });
  expect(said(reports)).toEqual([STOPPING]);
  expect(reports.filter(({ outcome }) => outcome === 'taken').map(({ field }) => field)).toEqual(
    Object.keys({ ...LOBBY, ...fields }),
  );
});

it('fills in what Universe takes for fields that are missing', () => {
  const { content, fields } = mapConfiguration({ command: 'x' }, FACTS);
  expect(content).toEqual({
    name: 'default',
    command: 'x',
    nodes: ['node-1'],
    hostAddress: '127.0.0.1',
    availablePorts: { min: 25_565, max: 25_570 },
    environmentVariables: { UNIVERSE_INSTANCE_ID: '%INSTANCE_ID%' },
    stopCommand: 'stop',
    stopTimeoutSeconds: 60,
  });
  expect(said(fields)).toEqual([
    'added name',
    'added nodes',
    'added hostAddress',
    'added availablePorts',
    'added environmentVariables',
    STOPPING,
  ]);
});

it.each<[what: string, input: object, expected: object, said: readonly string[]]>([
  ['a name with other characters', { name: 'My Lobby!' }, { name: 'My-Lobby-' }, ['changed name']],
  [
    'groups with other characters',
    { instanceGroups: ['a b', 'c'] },
    { instanceGroups: ['a-b', 'c'] },
    ['changed instanceGroups'],
  ],
  ['no nodes', { nodes: [] }, { nodes: [] }, ['changed nodes']],
  ['a runtime that Drover lacks', { runtime: 'k8s' }, { runtime: 'k8s' }, ['changed runtime']],
  ["a command in bash's words", { command: '[[ -f a ]] && ./a' }, {}, ['changed command']],
  ['a variable in the command', { command: './a %PORT% %OTHER%' }, {}, ['changed command']],
  ['a static one with a directory', { name: 'survival', static: true }, { static: true }, ['changed static']],
  [
    'paths in other forms',
    { fileModifications: ['./a.txt', 'b\\c.txt', 'd'] },
    { fileModifications: ['a.txt', 'b/c.txt', 'd'] },
    ['changed fileModifications'],
  ],
  [
    'values that are no texts',
    { environmentVariables: { N: 5, B: true, A: 'x', 'not a name': 'x' }, properties: { p: 1.5 } },
    { environmentVariables: { N: '5', B: 'true', A: 'x' }, properties: { p: '1.5' } },
    ['left environmentVariables: not a name', 'changed environmentVariables: N, B', 'changed properties: p'],
  ],
  [
    'variables that only Universe has',
    { environmentVariables: { A: '%TAILSCALE_IP% %PORT%', B: '%mine%' }, properties: { mine: '1' } },
    {},
    ['changed environmentVariables: A (%TAILSCALE_IP%)'],
  ],
  [
    'more ports',
    {
      additionalPorts: [
        { port: 27_016, protocol: 'UDP', name: 'Query Port' },
        { port: 9000 },
        { port: 9001, name: 'main' },
        { port: 9002, name: 'Query Port' },
        { port: 9000 },
        { port: 70_000, name: 'far' },
        { port: 9003, protocol: 'SCTP', name: 'odd' },
      ],
    },
    {
      ports: {
        'query-port': { min: 27_016, max: 27_016, protocol: 'udp' },
        'port-9000': { min: 9000, max: 9000, protocol: 'tcp' },
        'port-9001': { min: 9001, max: 9001, protocol: 'tcp' },
        'port-9002': { min: 9002, max: 9002, protocol: 'tcp' },
      },
    },
    [...Array<string>(3).fill('left additionalPorts'), 'changed additionalPorts'],
  ],
  ['no more ports', { additionalPorts: [] }, {}, []],
  ['fields that nobody knows', { color: 'red' }, {}, ['left color']],
])('maps %s', (_what, input, expected, expectedSaid) => {
  const { content, fields } = mapConfiguration({ ...LOBBY, ...input }, FACTS);
  expect(content).toMatchObject(expected);
  expect(Object.hasOwn(content, 'additionalPorts') || Object.hasOwn(content, 'color')).toBe(false);
  expect(said(fields)).toEqual([...expectedSaid, STOPPING]);
});

it('maps references to templates, and says which instances would wait for', () => {
  const { content, fields } = mapConfiguration(
    {
      ...LOBBY,
      templateInstallationConfig: {
        allOf: [
          { name: 'server', group: 'default', storage: 'local', priority: 1 },
          { name: 'My World', group: 'lobby', priority: 2 },
        ],
        oneOf: [
          { name: 'gone', group: 'x', priority: 1 },
          { name: 'far', group: 'x', storage: 's3', priority: 1 },
        ],
        allInGroups: ['a b'],
        onTemplatePasteOverridePresentFiles: true,
      },
    },
    FACTS,
  );
  expect(content.templateInstallationConfig).toEqual({
    allOf: [
      { name: 'server', group: 'default', storage: 'local', priority: 1 },
      { name: 'My-World', group: 'lobby', storage: 'local', priority: 2 },
    ],
    oneOf: [
      { name: 'gone', group: 'x', storage: 'local', priority: 1 },
      { name: 'far', group: 'x', storage: 's3', priority: 1 },
    ],
    allInGroups: ['a-b'],
    onTemplatePasteOverridePresentFiles: true,
  });
  const notes = fields.filter(({ field }) => field.endsWith('oneOf')).map(({ note }) => note);
  expect(notes).toEqual([
    expect.stringContaining('templates/x/gone is not there'),
    expect.stringContaining('storage s3'),
    expect.stringContaining('the same priority'),
  ]);
});

it('gives variables of the node to configurations of this node alone, and says so of the others', () => {
  const facts = { ...FACTS, node: { nodeId: 'node-1', variables: { region: 'eu', PORT: '1' } } };
  const own = mapConfiguration({ ...LOBBY, properties: { motd: 'x' } }, facts);
  expect(own.content.properties).toEqual({ region: 'eu', motd: 'x' });
  const others = mapConfiguration({ ...LOBBY, nodes: ['node-1', 'node-2'] }, facts);
  expect(others.content.properties).toBeUndefined();
  expect(said(others.fields)).toContain('left nodeSpecificVariables: region');
});

it('says no value of an environment or of properties', () => {
  const input = {
    ...LOBBY,
    environmentVariables: { A: 'hush', 'b c': 'hush', N: 4711 },
    properties: { p: 'hush' },
  };
  expect(JSON.stringify(mapConfiguration(input, FACTS).fields)).not.toMatch(/hush|4711/);
});

it.each<[what: string, input: Record<string, unknown>, expected: object, said: readonly string[]]>([
  [
    'nothing',
    {},
    { nodeId: 'node-1', clusterName: 'universe-cluster', maxRamMB: 8192, maxCpu: 400 },
    ['added nodeId', 'added clusterName', 'added maxRamMB', 'added maxCpu'],
  ],
  [
    'all that has a counterpart',
    {
      ...{ address: '10.0.0.1', port: 1, apiPort: 2, nodeId: 'a', clusterName: 'b c', isMasterNode: true },
      ...{ masterAddress: '10.0.0.1', masterPort: 3, masterApiPort: 4, debug: true, maxRamMB: 5, maxCpu: 6 },
      ...{ bindAddress: '0.0.0.0', publicAddress: '10.0.0.1', updateSources: [], nodeSpecificVariables: {} },
    },
    {
      ...{ address: '10.0.0.1', port: 1, apiPort: 2, nodeId: 'a', clusterName: 'b-c', isMasterNode: true },
      ...{ masterAddress: '10.0.0.1', masterPort: 3, masterApiPort: 4, debug: true, maxRamMB: 5, maxCpu: 6 },
      ...{ bindAddress: '0.0.0.0' },
    },
    ['changed clusterName', 'changed bindAddress', 'changed nodeSpecificVariables'],
  ],
  [
    'what has none',
    {
      ...{ nodeId: 'a', clusterName: 'b', maxRamMB: 5, maxCpu: 6, isMasterNode: false, color: 'red' },
      ...{ publicAddress: '1.2.3.4', updateSources: [{ url: 'http://x' }] },
    },
    { nodeId: 'a', clusterName: 'b', maxRamMB: 5, maxCpu: 6, isMasterNode: false },
    ['changed isMasterNode', 'left color', 'left publicAddress', 'left updateSources'],
  ],
])('maps a main configuration with %s', (_what, input, expected, expectedSaid) => {
  const { content, fields } = mapNode(input);
  expect(content).toEqual(expected);
  expect(said(fields)).toEqual(expectedSaid);
});
