/** `config diff` as text, for each state of the file and of the instances. */

import { describe, expect, it } from 'vitest';
import { describeDiff } from '../../../src/command-tree/groups/configuration-diff-text.js';
import type { Reading } from '../../../src/configuration-files/directory.js';
import { type Configuration, hashConfiguration } from '../../../src/model/configuration.js';
import { NO_COUNTS, type RolloutRecord } from '../../../src/model/rollout.js';
import { diffOf } from '../../../src/operations/configuration-diff.js';
import type { Reads } from '../../../src/operations/reads.js';
import type { MirrorReader } from '../../../src/store/mirror.js';
import { given } from '../../support/control-plane/given.js';
import { configurationOf, instanceRecord } from '../../support/control-plane/records.js';

const LOBBY = configurationOf('lobby');
const CURRENT = hashConfiguration(LOBBY);

function recordsOf<T>(values: Readonly<Record<string, T>>): Pick<MirrorReader<T>, 'get' | 'entries'> {
  const map = new Map(Object.entries(values).map(([id, value]) => [id, { value, revision: 1 }]));
  return { get: (id) => map.get(id), entries: () => map.entries() };
}

const valid = (configuration: Configuration): Reading => ({
  kind: 'valid',
  signature: '',
  parsed: { configuration, content: configuration, hash: hashConfiguration(configuration), warnings: [] },
});

interface World {
  readonly file: Reading | undefined;
  /** Revision of each instance by its id. */
  readonly instances?: Readonly<Record<string, string>>;
  readonly revisions?: Readonly<Record<string, Configuration>>;
  /** The revision that new instances are made from, while the content of the file is held back. */
  readonly heldBackFor?: string;
}

async function linesOf({ file, instances = {}, revisions = {}, heldBackFor }: World): Promise<string[]> {
  const records = Object.entries(instances).map(([id, revision], index) => [
    id,
    instanceRecord(id, { revision, createdAt: index }),
  ]);
  const diff = await diffOf(
    given<Reads>({
      configurations: recordsOf({
        lobby: { configuration: LOBBY, sourceFile: 'lobby.json', sourceNode: 'alpha', hash: CURRENT },
      }),
      revisions: recordsOf(revisions),
      instances: recordsOf(Object.fromEntries(records)),
      rollouts: recordsOf(heldBackFor === undefined ? {} : { lobby: heldBack(heldBackFor) }),
      configurationFiles: {
        inspect: async () => file,
        place: () => ({ nodeId: 'alpha', directory: '/nowhere', writes: 'file', isClone: false }),
      },
      overrides: recordsOf({}),
    }),
    'lobby',
    'none',
  );
  return describeDiff(diff).split('\n');
}

function heldBack(from: string): RolloutRecord {
  return {
    name: 'lobby',
    from,
    to: CURRENT,
    generation: 0,
    state: 'failed',
    cause: 'content',
    reason: 'no-progress',
    message: 'none became good',
    by: null,
    since: 1,
    endedAt: 2,
    progressAt: null,
    isPromoted: true,
    paused: null,
    counts: NO_COUNTS,
    templates: {},
  };
}

describe('config diff', () => {
  it('says of a content that is held back what is in force instead, and compares with that', async () => {
    const before = { ...LOBBY, ramMB: 64 };
    const revision = hashConfiguration(before);
    const instances = { a1: revision, a2: revision, b1: CURRENT };
    const revisions = { [revision]: before, [CURRENT]: LOBBY };
    const lines = await linesOf({ file: valid(LOBBY), instances, revisions, heldBackFor: revision });
    expect(lines.slice(0, -1)).toEqual([
      `what lobby.json says is held back (none became good); new instances are made from revision ${revision.slice(0, 8)}`,
      '2 instances made from what is in force',
      `1 instance made from older content (revision ${CURRENT.slice(0, 8)}): b1`,
      '  ramMB: 2048 -> 64',
    ]);
  });

  it('says that the file is in force', async () => {
    expect(await linesOf({ file: valid(LOBBY) })).toEqual([
      'lobby.json is in force as it stands',
      'there are no instances',
    ]);
  });

  it('shows what a file says that is not in force yet', async () => {
    const file = valid({ ...LOBBY, ramMB: 64, properties: { motd: 'hi' } });
    expect(await linesOf({ file })).toEqual([
      'lobby.json says something else than what is in force ("config reload" takes it now):',
      '  properties.motd: - -> ***',
      '  ramMB: 2048 -> 64',
      'there are no instances',
    ]);
  });

  it('shows why a broken file is not in force', async () => {
    const error = { file: 'lobby.json', line: 3, column: 5, field: 'cpu', message: 'must be a number' };
    expect(await linesOf({ file: { kind: 'broken', signature: '', error } })).toEqual([
      'lobby.json is broken; what it said before is in force:',
      '  lobby.json:3:5: cpu: must be a number',
      'there are no instances',
    ]);
  });

  it('says that the file is gone', async () => {
    expect((await linesOf({ file: undefined }))[0]).toBe(
      'lobby.json is gone; what it said is in force until Drover has seen that',
    );
  });

  it('groups instances by what they were made from, the oldest first', async () => {
    const lines = await linesOf({
      file: valid(LOBBY),
      instances: {
        aaaaaa: 'older-revision',
        bbbbbb: 'lost-revision',
        cccccc: 'older-revision',
        dddddd: CURRENT,
      },
      revisions: { 'older-revision': { ...LOBBY, command: 'old' } },
    });
    expect(lines).toEqual([
      'lobby.json is in force as it stands',
      '1 instance made from what is in force',
      '2 instances made from older content (revision older-re): aaaaaa, cccccc',
      '  command: "old" -> "run"',
      '1 instance made from older content (revision lost-rev): bbbbbb',
      '  that content is not kept any more',
      'an instance keeps its content: "instance update <id>" gives it what is in force, in place',
    ]);
  });
});
