/** A node's copy of its assignments on disk, with which it goes on without its master. */
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Assignment, MessageOf } from '../../../src/channel/protocol/messages.js';
import { DesiredCopy } from '../../../src/node/desired-copy.js';
import { NodeSecrets } from '../../../src/node/node-secrets.js';
import { WriteBehind } from '../../../src/node/write-behind.js';
import { FlakyStore } from '../../support/control-plane/flaky-store.js';
import { configurationOf } from '../../support/control-plane/records.js';
import { assignmentOf } from '../../support/control-plane/wrapper-facts.js';
import { FakeClock } from '../../support/fake-clock.js';

const CONTENTS = { f00: configurationOf('lobby') };

function snapshot(
  assignments: Assignment[],
  revisions: MessageOf<'snapshot'>['revisions'] = CONTENTS,
): MessageOf<'snapshot'> {
  return { type: 'snapshot', sequence: 1, assignments, revisions, store: 1 };
}

function delta(fields: Partial<MessageOf<'delta'>>): MessageOf<'delta'> {
  return { type: 'delta', sequence: 2, put: [], drop: [], revisions: {}, store: 2, ...fields };
}

describe('the desired copy', () => {
  let store: FlakyStore;
  let clock: FakeClock;
  let disk: WriteBehind;
  let copy: DesiredCopy;
  let changed: string[];

  beforeEach(async () => {
    clock = new FakeClock();
    store = new FlakyStore(clock);
    copy = await open();
  });

  afterEach(async () => {
    await store.close();
  });

  /** As a new daemon reads it. */
  async function open(): Promise<DesiredCopy> {
    const logger = pino({ level: 'silent' });
    disk = new WriteBehind({ store, clock, logger });
    const opened = new DesiredCopy(disk, new NodeSecrets(disk));
    await opened.load();
    changed = [];
    opened.onChange((id) => changed.push(id));
    return opened;
  }

  it('remembers the newest revision of the store that it was told of, until a snapshot says another', async () => {
    expect(copy.seen()).toBeUndefined();
    copy.applySnapshot({ ...snapshot([]), store: 7 });
    copy.applyDelta(delta({ store: 9 }));
    const written = disk.written();
    await clock.advance(1000);
    await written;
    copy = await open();
    expect(copy.seen()).toEqual({ revision: 9, line: 0 });
    copy.applySnapshot({ ...snapshot([]), store: 3, line: 5 });
    copy.applyDelta(delta({ store: 4 }));
    expect(copy.seen()).toEqual({ revision: 4, line: 5 });
    const writtenAgain = disk.written();
    await clock.advance(1000);
    await writtenAgain;
    copy = await open();
    expect(copy.seen()).toEqual({ revision: 4, line: 5 });
  });

  it('holds what a snapshot names and drops what it does not, telling of both', () => {
    copy.applySnapshot(snapshot([assignmentOf('aaaaaa'), assignmentOf('bbbbbb')]));
    copy.applySnapshot(snapshot([assignmentOf('bbbbbb', { goal: 'stop' })]));
    expect([...copy.ids()]).toEqual(['bbbbbb']);
    expect(copy.get('bbbbbb')).toMatchObject({
      assignment: { goal: 'stop' },
      configuration: { name: 'lobby' },
    });
    expect(changed).toEqual(['aaaaaa', 'bbbbbb', 'bbbbbb', 'aaaaaa']);
  });

  it('takes deltas on top', () => {
    copy.applySnapshot(snapshot([assignmentOf('aaaaaa')]));
    copy.applyDelta(delta({ put: [assignmentOf('bbbbbb')], drop: ['aaaaaa'] }));
    expect(copy.has('aaaaaa')).toBe(false);
    expect(copy.has('bbbbbb')).toBe(true);
    expect(changed).toEqual(['aaaaaa', 'bbbbbb', 'aaaaaa']);
  });

  it('is as it was after a restart, but not confirmed before a master has spoken', async () => {
    copy.setMaster({ nodeId: 'master', address: '10.0.0.9', port: 6000, apiPort: 7000 });
    copy.applySnapshot(snapshot([assignmentOf('aaaaaa'), assignmentOf('bbbbbb')]));
    copy.applyDelta(delta({ put: [assignmentOf('aaaaaa', { restartToken: 4 })], drop: ['bbbbbb'] }));
    expect(copy.isConfirmed).toBe(true);
    const committed = disk.written();
    await clock.advance(100);
    await committed;
    const reopened = await open();
    expect(reopened.isConfirmed).toBe(false);
    expect([...reopened.ids()]).toEqual(['aaaaaa']);
    expect(reopened.get('aaaaaa')).toEqual(copy.get('aaaaaa'));
    expect(reopened.master).toMatchObject({ address: '10.0.0.9' });
    reopened.applyDelta(delta({}));
    expect(reopened.isConfirmed).toBe(false);
    reopened.applySnapshot(snapshot([]));
    expect(reopened.isConfirmed).toBe(true);
  });

  it('is kept on request, with the content of the revision, and waits for no disk that is full or has it', async () => {
    copy.applySnapshot(snapshot([assignmentOf('aaaaaa')]));
    await copy.keep('aaaaaa');
    expect((await open()).get('aaaaaa')).toEqual(copy.get('aaaaaa'));
    const commits = await store.barrier();
    copy.setMaster({ nodeId: 'master', address: '10.0.0.9', port: 6000, apiPort: 7000 });
    await copy.keep('aaaaaa');
    expect(await store.barrier()).toBe(commits);
    store.isFull = true;
    copy.applyDelta(delta({ put: [assignmentOf('aaaaaa', { restartToken: 1 })] }));
    await copy.keep('aaaaaa');
    expect((await open()).get('aaaaaa')?.assignment.restartToken).toBe(0);
  });

  it('holds an instance of unknown content, so that it is not ended, but says nothing of what is desired', () => {
    copy.applySnapshot(snapshot([assignmentOf('aaaaaa', { revision: 'ba5' })]));
    expect(copy.has('aaaaaa')).toBe(true);
    expect(copy.get('aaaaaa')).toBeUndefined();
    copy.applyDelta(
      delta({
        put: [assignmentOf('aaaaaa', { revision: 'ba5' })],
        revisions: { ba5: configurationOf('lobby') },
      }),
    );
    expect(copy.get('aaaaaa')).toBeDefined();
  });

  it('keeps the contents of a connection, which the master sends once, and forgets unused ones with a snapshot', async () => {
    copy.applySnapshot(snapshot([assignmentOf('aaaaaa')]));
    copy.applyDelta(delta({ drop: ['aaaaaa'] }));
    copy.applyDelta(delta({ put: [assignmentOf('bbbbbb')] }));
    expect(copy.get('bbbbbb')).toBeDefined();
    copy.applySnapshot(snapshot([], {}));
    const committed = disk.written();
    await clock.advance(100);
    await committed;
    expect((await store.list('')).entries.map(({ key }) => key)).toEqual(['seen']);
  });

  it('keeps what a snapshot names as unchanged, with the content of its revision', async () => {
    copy.applySnapshot(snapshot([assignmentOf('aaaaaa'), assignmentOf('bbbbbb')]));
    copy.applySnapshot({ ...snapshot([assignmentOf('cccccc')], {}), unchanged: ['aaaaaa'] });
    expect([...copy.ids()].sort()).toEqual(['aaaaaa', 'cccccc']);
    expect(copy.get('cccccc')?.configuration).toEqual(CONTENTS.f00);
  });

  it('names as held only what is complete', () => {
    copy.applySnapshot(snapshot([assignmentOf('aaaaaa'), assignmentOf('bbbbbb', { revision: 'elsewhere' })]));
    expect(copy.held().map(({ id }) => id)).toEqual(['aaaaaa']);
  });
});
