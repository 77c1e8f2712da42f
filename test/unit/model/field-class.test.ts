import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { configurationSchema } from '../../../src/model/configuration.js';
import { changedFields, type FieldPlace, strongestClass } from '../../../src/model/field-class.js';

type Input = z.input<typeof configurationSchema>;

const configuration = (fields: Partial<Input> = {}) =>
  configurationSchema.parse({ name: 'lobby', command: 'run', ...fields });

const place = (fields: Partial<FieldPlace> = {}): FieldPlace => ({
  nodeId: 'node-1',
  port: 25_565,
  ...fields,
});

function classOf(before: Partial<Input>, after: Partial<Input>, at?: FieldPlace): string | null {
  return strongestClass(changedFields(configuration(before), configuration(after), at));
}

/** A value that is not the default of a field of the schema. */
const OTHER: { readonly [Field in keyof Required<Input>]: NonNullable<Input[Field]> } = {
  name: 'arena',
  runtime: 'docker',
  command: 'other',
  static: true,
  ramMB: 77,
  cpu: 7,
  limits: { pids: 7 },
  instanceGroups: ['games'],
  nodes: ['node-7'],
  hostAddress: '10.0.0.7',
  availablePorts: { min: 7000, max: 7007 },
  ports: { seven: { min: 7017, max: 7027 } },
  sharePort: 'reuse',
  minimumServiceCount: 7,
  maximumServiceCount: 7,
  environmentVariables: { SEVEN: '7' },
  templateInstallationConfig: { allInGroups: ['seven'] },
  fileModifications: ['seven.txt'],
  fileEdits: [{ path: 'seven.ini', format: 'ini', set: { seven: 7 } }],
  secretFiles: [{ secret: 'seven', path: 'seven.key' }],
  maskSecrets: false,
  prepare: [{ command: 'seven' }],
  after: [{ command: 'seven' }],
  properties: { SEVEN: '7' },
  placement: 'pack',
  runAs: 'seven',
  stopCommand: 'end',
  stopSignal: 'SIGINT',
  stopTimeoutSeconds: 7,
  stopTo: 'all',
  expose: { host: 'seven.example.org' },
  restartPolicy: 'never',
  readiness: { tcpPort: 7007 },
  liveness: { tcpPort: 7007 },
  update: { strategy: 'rolling' },
  surplus: 'remove',
  job: { timeoutSeconds: 7 },
  waitsFor: [{ configuration: 'seven', until: 'started' }],
  schedules: [{ name: 'seven', cron: '7 7 * * *', do: 'restart' }],
  windows: [{ cron: '7 7 * * *', minutes: 7, minimumServiceCount: 7 }],
  onDelete: 'stop',
  managed: ['minimumServiceCount'],
};

/** What some fields need beside them. */
const BESIDE: Readonly<Record<string, Partial<Input>>> = {
  job: { minimumServiceCount: 0, restartPolicy: 'never' },
  sharePort: { availablePorts: { min: 7000, max: 7007 } },
};

describe('the class of a changed field', () => {
  it.each(Object.keys(configurationSchema.shape))('is known for %s', (field) => {
    const other = new Map<string, unknown>(Object.entries(OTHER)).get(field);
    expect(other, `${field} needs a value in this test, and a row in field-class.ts`).toBeDefined();
    const beside: Partial<Input> = BESIDE[field] ?? {};
    const changed = changedFields(configuration(), configuration({ [field]: other, ...beside }));
    expect(changed.map(({ path }) => path.split('.')[0])).toContain(field);
    expect(z.enum(['live', 'next-start', 'replacement']).safeParse(strongestClass(changed)).success).toBe(
      true,
    );
  });

  it.each([
    ['live', { minimumServiceCount: 3, maximumServiceCount: 5 }],
    ['live', { instanceGroups: ['games'], placement: 'pack' }],
    ['live', { stopCommand: 'end', stopSignal: 'SIGINT', stopTimeoutSeconds: 7, restartPolicy: 'never' }],
    ['live', { readiness: { logLine: 'Done' } }],
    ['next-start', { command: 'other' }],
    ['next-start', { environmentVariables: { A: '1' }, properties: { B: '2' } }],
    ['next-start', { templateInstallationConfig: { allInGroups: ['base'] }, fileModifications: ['a.txt'] }],
    ['next-start', { command: 'other', minimumServiceCount: 3 }],
    ['replacement', { runtime: 'docker' }],
    ['replacement', { ramMB: 4096 }],
    ['replacement', { cpu: 7, command: 'other' }],
    ['replacement', { static: true }],
    ['replacement', { hostAddress: '10.0.0.1' }],
    ['replacement', { runAs: 'games' }],
  ] as const)('is %s at most for %j', (expected, after) => {
    expect(classOf({}, after as Partial<Input>)).toBe(expected);
  });

  it('is null in sum where nothing has changed', () => {
    expect(classOf({ command: 'run' }, { runtime: 'screen' })).toBeNull();
  });

  it('names each leaf with both values as JSON', () => {
    const from = configuration({ availablePorts: { min: 100, max: 200 }, properties: { A: '1' } });
    const to = configuration({ availablePorts: { min: 100, max: 300 }, properties: { B: '2' } });
    expect(changedFields(from, to)).toEqual([
      { path: 'availablePorts.max', class: 'live', from: '200', to: '300' },
      { path: 'properties.A', class: 'next-start', from: '"1"', to: null },
      { path: 'properties.B', class: 'next-start', from: null, to: '"2"' },
    ]);
  });
});

describe('the class of a changed range of ports', () => {
  const range = (min: number, max: number): Partial<Input> => ({ availablePorts: { min, max } });

  it.each([
    ['no instance can be outside of a wider one', range(100, 200), range(50, 300), 'live'],
    ['some instance may be outside of a narrower one', range(100, 200), range(100, 150), 'replacement'],
    ['an instance that had none needs one', {}, range(100, 200), 'replacement'],
    ['a restart gives back the port that is not asked for any more', range(100, 200), {}, 'next-start'],
  ])('without a place: %s', (_why, before, after, expected) => {
    expect(classOf(before, after)).toBe(expected);
  });

  it.each([
    ['the present port is inside', 150, 'live'],
    ['the present port is the last one', 160, 'live'],
    ['the present port is outside', 161, 'replacement'],
    ['there is no port', null, 'replacement'],
  ] as const)('of one instance: %s', (_why, port, expected) => {
    expect(classOf(range(100, 200), range(140, 160), place({ port }))).toBe(expected);
  });
});

describe('the class of a changed list of nodes', () => {
  it.each([
    ['any node instead of some', ['a'], [], 'live'],
    ['one more', ['a'], ['a', 'b'], 'live'],
    ['one less', ['a', 'b'], ['a'], 'replacement'],
    ['some instead of any', [], ['a'], 'replacement'],
  ])('without a place: %s', (_why, before, after, expected) => {
    expect(classOf({ nodes: before }, { nodes: after })).toBe(expected);
  });

  it.each([
    ['is still allowed', ['node-1'], 'live'],
    ['is not allowed any more', ['node-2'], 'replacement'],
  ])('of one instance whose node %s', (_why, nodes, expected) => {
    expect(classOf({}, { nodes }, place())).toBe(expected);
  });
});
