import { expect, it } from 'vitest';
import type { InstanceRecord } from '../../../src/model/instance.js';
import { InstanceCounts } from '../../../src/state/instance-counts.js';
import type { MirrorListener } from '../../../src/store/mirror.js';
import { instanceRecord, instanceStatus } from '../../support/api/api-world.js';

it('counts instances by configuration and a word, without those that are being removed', () => {
  let tell: MirrorListener<InstanceRecord> = () => {};
  const counts = new InstanceCounts(
    {
      onChange: (listener) => {
        tell = listener;
        return () => undefined;
      },
    },
    ({ status }) => status.state,
  );
  const change = (before: InstanceRecord | undefined, after: InstanceRecord | undefined): string[] => {
    const mirrored = (value: InstanceRecord | undefined) =>
      value === undefined ? undefined : { value, revision: 1 };
    tell('aaaaaa', mirrored(after), mirrored(before));
    return [...counts.entries()].map(({ configuration, word, count }) => `${count} ${configuration} ${word}`);
  };
  const online = instanceRecord({ id: 'aaaaaa' });
  const offline = { ...online, status: instanceStatus('OFFLINE') };
  const removed = { ...offline, desired: { goal: 'remove', restartToken: 0 } } as const;
  expect(change(undefined, online)).toEqual(['1 hello ONLINE']);
  expect(change(undefined, { ...online, configurationName: 'lobby' })).toEqual([
    '1 hello ONLINE',
    '1 lobby ONLINE',
  ]);
  expect(change(online, { ...online, ramMB: 65 })).toEqual(['1 hello ONLINE', '1 lobby ONLINE']);
  expect(change(undefined, online)).toEqual(['2 hello ONLINE', '1 lobby ONLINE']);
  expect(change(online, offline)).toEqual(['1 hello ONLINE', '1 hello OFFLINE', '1 lobby ONLINE']);
  expect(Object.fromEntries(counts.of('hello'))).toEqual({ ONLINE: 1, OFFLINE: 1 });
  expect(change(offline, removed)).toEqual(['1 hello ONLINE', '1 lobby ONLINE']);
  expect(change(removed, undefined)).toEqual(['1 hello ONLINE', '1 lobby ONLINE']);
  expect(change(online, undefined)).toEqual(['1 lobby ONLINE']);
  expect(counts.of('hello').size).toBe(0);
});
