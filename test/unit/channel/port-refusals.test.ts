/** What the cluster port says of strangers: enough for a mistake, too little to wash anything out. */
import { beforeEach, describe, expect, it } from 'vitest';
import { type PortRefusal, PortRefusals } from '../../../src/channel/master/port-refusals.js';
import type { AuditEntry } from '../../../src/model/audit.js';
import { FakeClock } from '../../support/fake-clock.js';

const MINUTE = 60_000;

let clock: FakeClock;
let refusals: PortRefusals;
let audit: Omit<AuditEntry, 'at'>[];
let said: string[];

beforeEach(() => {
  clock = new FakeClock();
  audit = [];
  said = [];
  refusals = new PortRefusals({
    audit: { record: (entry) => audit.push(entry) },
    clock,
    logger: { warn: (_fields: object, message?: string) => said.push(message ?? '') },
  });
});

const say = (fields: Partial<PortRefusal> = {}): void =>
  refusals.say({
    cause: 'token-unknown',
    message: 'this master does not know the join token',
    address: '10.0.0.1',
    what: 'join',
    nodeId: null,
    ...fields,
  });

describe('the refusals of the cluster port', () => {
  it('are one entry and one line at once, and then one after a minute, two, four, with their number', async () => {
    for (let second = 0; second < 8 * 60; second++) {
      say();
      await clock.advance(1000);
    }
    expect(audit.map(({ subject }) => subject)).toEqual([
      null,
      'unknown node (60 times more)',
      'unknown node (120 times more)',
      'unknown node (240 times more)',
    ]);
    expect(audit[0]).toEqual({
      key: null,
      action: 'join',
      subject: null,
      address: '10.0.0.1',
      result: 'failed',
    });
    expect(said).toHaveLength(4);
    expect(said[0]).toBe(
      'refused a connection to the cluster port from 10.0.0.1: this master does not know the join token',
    );
    expect(said[3]).toMatch(/ \(240 times more\)$/);
  });

  it('are told apart by cause and address, and joins alone are entries', () => {
    say();
    say({ cause: 'token-expired', nodeId: 'alpha' });
    say({ address: '10.0.0.2' });
    say({ cause: 'handshake', what: 'handshake' });
    say({ message: 'other words' });
    expect(said).toHaveLength(4);
    expect(audit.map(({ subject, address }) => [subject, address])).toEqual([
      [null, '10.0.0.1'],
      ['alpha', '10.0.0.1'],
      [null, '10.0.0.2'],
    ]);
  });

  it('cannot push out what was done, from however many addresses they come', async () => {
    for (let index = 0; index < 5000; index++) say({ address: `10.${index >> 8}.${index & 255}.1` });
    expect(audit).toHaveLength(101);
    expect(audit[100]?.subject).toBe('further refusals are left out until they pause');
    // A day of it.
    for (let minute = 0; minute < 24 * 60; minute++) {
      for (let index = 0; index < 20; index++) say({ address: `172.16.${minute & 255}.${index}` });
      await clock.advance(MINUTE);
    }
    expect(audit.length).toBeLessThan(101 + 2 * 24 * 6 + 10);
    expect(said.length).toBe(audit.length);
  });

  it('of the nodes of the cluster are said, however many strangers knock', () => {
    for (let index = 0; index < 5000; index++) say({ address: `10.${index >> 8}.${index & 255}.1` });
    said = [];
    for (const nodeId of ['alpha', 'beta', 'alpha'])
      say({
        cause: 'no-member',
        what: 'channel',
        nodeId,
        message: `node ${nodeId} is not a member any more`,
      });
    expect(said).toEqual([
      expect.stringContaining('node alpha is not a member'),
      expect.stringContaining('node beta is not a member'),
    ]);
  });
});
