/** The present code reads every set of kept records: no start ends, and nothing is set aside. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { DesiredCopy } from '../../../src/node/desired-copy.js';
import { HandleBook } from '../../../src/node/handle-book.js';
import { NodeSecrets } from '../../../src/node/node-secrets.js';
import { WriteBehind } from '../../../src/node/write-behind.js';
import { PREFIX } from '../../../src/store/keys.js';
import { inSteps } from '../../../src/store/transaction.js';
import { ControlPlane } from '../../support/control-plane/control-plane.js';
import { FakeClock } from '../../support/fake-clock.js';
import { REPOSITORY } from '../../support/repository-root.js';
import { MemoryStore } from '../../support/store/memory-store.js';

const DIRECTORY = join(REPOSITORY, 'test/fixtures/records');
const SETS = readdirSync(DIRECTORY, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

async function storeOf(set: string, file: string): Promise<MemoryStore> {
  const text = readFileSync(join(DIRECTORY, set, file), 'utf8');
  const entries: [string, unknown][] = Object.entries(JSON.parse(text));
  const store = new MemoryStore();
  for (const step of inSteps(entries))
    await store.transact(step.map(([key, value]) => ({ do: 'put', key, value })));
  return store;
}

const nodesOf = (set: string): string[] =>
  readdirSync(join(DIRECTORY, set)).filter((file) => file.startsWith('node-'));

describe.each(SETS)('the records of %s', (set) => {
  it('of a master are of known kinds, and a master starts on all of them', async () => {
    const store = await storeOf(set, 'master.json');
    const clock = new FakeClock();
    const plane = new ControlPlane({ clock, masterStore: store });
    const { entries } = await store.list('');
    const kinds = new Set(entries.map(({ key }) => key.slice(0, key.indexOf('/') + 1)));
    // The builds before the newest had no other kinds, and may have had fewer.
    const known = Object.values(PREFIX).toSorted();
    if (set === SETS.toSorted().at(-1)) expect([...kinds].sort()).toEqual(known);
    else expect(known).toEqual(expect.arrayContaining([...kinds]));
    await plane.start();
    expect([...plane.master.state.unreadable()]).toEqual([]);
    await clock.advance(60_000);
    expect([...plane.master.state.unreadable()]).toEqual([]);
    await plane.stop();
  });

  it.each(nodesOf(set))('of a node (%s) are all taken up', async (file) => {
    const store = await storeOf(set, file);
    const clock = new FakeClock();
    const lines: string[] = [];
    const logger = pino({ level: 'warn' }, { write: (line: string) => lines.push(line) });
    const disk = new WriteBehind({ store, clock, logger });
    const desired = new DesiredCopy(disk, new NodeSecrets(disk));
    const handles = new HandleBook(disk);
    await desired.load();
    await handles.load(clock);
    const { entries } = await store.list('');
    const countOf = (prefix: string): number => entries.filter(({ key }) => key.startsWith(prefix)).length;
    expect(countOf('handles/')).toBeGreaterThan(0);
    expect([...handles.values()]).toHaveLength(countOf('handles/'));
    expect([...desired.ids()].filter((id) => desired.get(id) !== undefined)).toHaveLength(
      countOf('assignments/'),
    );
    expect(desired.master).toBeDefined();
    expect(lines).toEqual([]);
    await store.close();
  });
});

it('there are records of the first kept form', () => {
  expect(SETS).toContain('2026-11');
});
