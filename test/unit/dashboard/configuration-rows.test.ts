import { expect, it } from 'vitest';
import { rowsOf } from '../../../src/dashboard/screens/configurations/rows.js';
import type { HealthState } from '../../../src/explain/health-states.js';
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

function healthOf(name: string, state: HealthState, detail: string | null = null) {
  const health = { state, text: state, detail, since: null, instance: null };
  return { name, online: 1, minimum: 1, instances: 1, health };
}

it('shows the worst health first, each row with the reason', () => {
  const rows = rowsOf({
    entries: new Map(['well', 'short', 'kept', 'edited'].map((name) => [name, entry(name, 1)])),
    health: [
      healthOf('edited', 'healthy'),
      healthOf('kept', 'broken-file', 'kept.json, line 3:1'),
      healthOf('left', 'removed', '2 instances left'),
      healthOf('new', 'broken-file'),
      healthOf('short', 'below-minimum', '2 of 4 online'),
      healthOf('well', 'healthy'),
    ],
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
  expect(rows.map(({ name, note }) => `${name}: ${note}`)).toEqual([
    'kept: kept.json, line 3:1',
    'new: ',
    'short: 2 of 4 online',
    'left: 2 instances left',
    'edited: changed, not in git',
    'well: ',
  ]);
});
