import { expect, it } from 'vitest';
import { parseConfigurationFile } from '../../../src/configuration-files/parse.js';
import { listConfigurations } from '../../../src/operations/configuration-list.js';
import type { Reads } from '../../../src/operations/reads.js';
import { configurationRecord } from '../../support/control-plane/explain-facts.js';
import { given } from '../../support/control-plane/given.js';
import { configurationOf } from '../../support/control-plane/records.js';
import { FakeClock } from '../../support/fake-clock.js';

type Mirror = Reads['timetableRecords']['mirror'];

/** A valid file of this name and command. */
function reading(name: string, command: string) {
  const result = parseConfigurationFile(`${name}.json`, JSON.stringify({ name, command }));
  if (!('parsed' in result)) throw new Error('the file is valid');
  return { kind: 'valid' as const, signature: command, parsed: result.parsed };
}

it('tells the state of the file here, also of what another master brought, and after a rename', () => {
  const files = new Map([
    ['h6.json', reading('h6', 'one')],
    ['four.json', reading('h4', 'one')],
    ['h7.json', reading('h7', 'old')],
  ]);
  const record = (name: string, sourceNode: string) =>
    [
      name,
      {
        revision: 1,
        value: configurationRecord({
          configuration: configurationOf(name),
          sourceFile: `${name}.json`,
          sourceNode,
          hash: reading(name, 'one').parsed.hash,
        }),
      },
    ] as const;
  // This master is a. What it brought itself is h4, which it has under another file name now.
  const records = new Map([record('h4', 'a'), record('h5', 'b'), record('h6', 'b'), record('h7', 'b')]);
  const rows = listConfigurations(
    given<Reads>({
      configurations: records,
      instances: { entries: () => new Map().entries() },
      instanceWords: { of: () => new Map() },
      instanceRevisions: { of: () => new Map() },
      rollouts: new Map(),
      clock: new FakeClock(),
      overrides: { get: () => undefined },
      timetableRecords: {
        mirror: given<Mirror>({ entries: () => new Map().entries(), get: () => undefined }),
      },
      configurationFiles: {
        ownErrors: () => [],
        errors: () => [],
        waiting: () => new Set(),
        conflicts: () => [],
        warnings: () => [],
        readings: () => files,
        place: () => ({ nodeId: 'a', directory: '/a', writes: 'file', isClone: false }),
      },
    }),
    new Map([
      ['four.json', 'committed'],
      ['h7.json', 'changed'],
    ]),
  );
  expect(rows.map(({ name, file, fileState, inGit }) => [name, file, fileState, inGit])).toEqual([
    ['h4', 'four.json', 'in-force', 'committed'],
    ['h5', 'h5.json', 'in-force', null],
    ['h6', 'h6.json', 'in-force', null],
    ['h7', 'h7.json', 'pending', 'changed'],
  ]);
});
