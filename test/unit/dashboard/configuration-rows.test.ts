import { expect, it } from 'vitest';
import { rowsOf } from '../../../src/dashboard/screens/configurations/rows.js';
import type { Topics } from '../../../src/watch-client/topics.js';

function entry(name: string, minimumServiceCount: number): Topics['configurations'] {
  const configuration = {
    name,
    command: 'true',
    runtime: 'process',
    static: false,
    ramMB: 64,
    cpu: 0,
    minimumServiceCount,
    instanceGroups: [],
    nodes: [],
    environmentVariables: {},
    properties: {},
    fileModifications: [],
    templateInstallationConfig: {
      allOf: [],
      oneOf: [],
      allInGroups: [],
      oneInGroups: [],
      onTemplatePasteOverridePresentFiles: false,
    },
  };
  return { name, file: `${name}.json`, revision: 'r1', configuration };
}

const fault = { line: 3, column: 1, field: 'command', message: 'command: must be a text' };

it('shows broken, gone and missing before what is well, each with what to do', () => {
  const rows = rowsOf({
    entries: [entry('well', 1), entry('short', 4), entry('kept', 1), entry('edited', 0)],
    counts: new Map([
      ['well', { online: 1, all: 1 }],
      ['short', { online: 2, all: 3 }],
      ['kept', { online: 1, all: 1 }],
      ['left', { online: 2, all: 2 }],
    ]),
    errors: [
      { ...fault, file: 'kept.json', name: 'kept' },
      { ...fault, file: 'new.json', line: null },
    ],
    removed: [{ name: 'left', instances: 2 }],
    directory: {
      node: 'a',
      git: null,
      fault: null,
      text: null,
      files: [
        { file: 'edited.json', name: 'edited', inGit: 'changed', text: 'changed, not in git' },
        { file: 'short.json', name: 'short', inGit: 'changed', text: 'changed, not in git' },
      ],
    },
  });
  expect(rows.map(({ name, state, note }) => `${name}: ${state}: ${note}`)).toEqual([
    'kept: kept: line 3: command: must be a text',
    'new: never: command: must be a text',
    'left: gone: 2 instances left: delete them, or create the configuration again',
    'edited: inForce: changed, not in git',
    'short: inForce: 2 instances missing: see why',
    'well: inForce: ',
  ]);
});
