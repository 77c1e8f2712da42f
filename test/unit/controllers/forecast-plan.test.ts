import { describe, expect, it } from 'vitest';
import type { ContentFacts } from '../../../controllers/master/content/plan.js';
import {
  addVictims,
  fatesOf,
  forecastOf,
  outcomeOf,
  outcomeWithout,
  type PlannedInstance,
} from '../../../controllers/master/forecast/plan.js';
import {
  type Foretold,
  type ForetoldVictim,
  NO_ROLLOUT,
} from '../../../controllers/master/rollout/foretell.js';
import { Pace } from '../../../src/loop/pace.js';
import { counted } from '../../support/control-plane/counted-instance.js';

const instance = (
  id: string,
  { facts, ...fields }: Partial<Omit<PlannedInstance, 'facts'> & { facts: Partial<ContentFacts> }> = {},
): PlannedInstance => ({
  id,
  facts: {
    id,
    asks: 'start',
    isAsked: false,
    players: 0,
    hasFinished: false,
    awaitsFirstStart: false,
    refusal: () => undefined,
    ...facts,
  },
  isOtherProcess: true,
  byItself: () => 'restarted',
  inPlace: () => 'restarted',
  ...fields,
});

const victim = (id: string, fields: Partial<ForetoldVictim> = {}): ForetoldVictim => ({
  id,
  static: false,
  isUp: true,
  waits: false,
  hasSpare: false,
  ...fields,
});

async function forecast(instances: PlannedInstance[], rollout: Partial<Foretold> = {}, ended: string[] = []) {
  const all = { ...NO_ROLLOUT, ...rollout };
  const pace = new Pace();
  const fates = await fatesOf(instances, { ended: new Set(ended), busy: new Set() }, pace);
  await addVictims(fates, { instances, rollout: all }, pace);
  return forecastOf(instances, fates, { ...all, create: 0 });
}

describe('what minimum-service would do', () => {
  const service = { name: 'lobby', maximum: undefined, ordinary: 0, instances: [], history: undefined };

  it('is followed to its end, in few passes however many are made', () => {
    expect(outcomeOf({ ...service, minimum: 2_000_000 })).toEqual({
      create: 2_000_000,
      ended: new Set(),
      busy: new Set(),
    });
  });

  it('does not wait for creations that failed before', () => {
    const history = { made: [{ id: 'gone', at: 0 }], streak: 5 };
    expect(outcomeOf({ ...service, minimum: 2, history }).create).toBe(2);
  });

  it('ends what is above a maximum', () => {
    const instances = [counted('a', { players: 'some' }), counted('b'), counted('c', { createdAt: 5 })];
    expect(outcomeOf({ ...service, minimum: 0, maximum: 1, instances }).ended).toEqual(new Set(['b', 'c']));
  });

  it('ends what is left of a lowered minimum, and knows whose players are waited for', () => {
    const surplus = { players: 'wait', leftMs: null } as const;
    const instances = [
      counted('a', { players: 'some' }),
      counted('b', { players: 'some', createdAt: 5 }),
      counted('c', { players: 'some', createdAt: 9 }),
      counted('d'),
    ];
    expect(outcomeOf({ ...service, minimum: 1, surplus, instances })).toEqual({
      create: 0,
      ended: new Set(['b', 'c', 'd']),
      busy: new Set(['b', 'c']),
    });
    const ignored = { ...surplus, players: 'ignore' } as const;
    expect(outcomeOf({ ...service, minimum: 1, surplus: ignored, instances }).busy).toEqual(new Set());
  });

  it('ends of a configuration that goes what is to leave, and knows whose players are waited for', () => {
    const patience = { players: 'wait', leftMs: 5000 } as const;
    const leaving = [
      { id: 'a', players: 'some' as const, patience },
      { id: 'b', players: 'none' as const, patience },
    ];
    expect(outcomeWithout({ name: 'lobby', leaving })).toEqual({
      create: 0,
      ended: new Set(['a', 'b']),
      busy: new Set(['a']),
    });
    expect(outcomeWithout({ name: 'lobby', leaving: [] }).ended).toEqual(new Set());
  });
});

describe('what becomes of the instances', () => {
  it('leaves all alone without a rollout, and counts those of another process', async () => {
    expect(await forecast([instance('a'), instance('b', { isOtherProcess: false })])).toMatchObject({
      keep: 2,
      older: 1,
      replace: 0,
      restart: 0,
    });
  });

  it('replaces victims, and updates static ones in place', async () => {
    const victims = [victim('a'), victim('b', { static: true }), victim('c', { waits: true })];
    expect(await forecast([instance('a'), instance('b'), instance('c')], { victims })).toMatchObject({
      replace: 2,
      restart: 1,
      keep: 0,
      waitForPlayers: 1,
    });
  });

  it('leaves a static victim alone that its node cannot hold with the content', async () => {
    const refused = instance('a', { inPlace: () => ({ refusal: 'no room' }) });
    expect(await forecast([refused], { victims: [victim('a', { static: true })] })).toMatchObject({
      restart: 0,
      keep: 1,
      older: 1,
    });
  });

  it('leaves alone what only a promotion replaces', async () => {
    const victims = [victim('a'), victim('b')];
    expect(
      await forecast([instance('a'), instance('b')], { victims, onPromotion: new Set(['b']) }),
    ).toMatchObject({
      replace: 1,
      keep: 1,
      onPromotion: 1,
      older: 0,
    });
  });

  it('replaces nothing that is ended anyway', async () => {
    expect(await forecast([instance('a')], { victims: [victim('a')] }, ['a'])).toMatchObject({
      stop: 1,
      replace: 0,
    });
  });

  it('updates in place what somebody asked to, when its players have left', async () => {
    const asked = [
      instance('a', { facts: { isAsked: true } }),
      instance('b', { facts: { isAsked: true, players: 2 } }),
    ];
    expect(await forecast(asked, { victims: [victim('a'), victim('b')] })).toMatchObject({
      restart: 2,
      replace: 0,
      waitForPlayers: 1,
    });
  });

  it('waits for no players of one that cannot be updated where it is', async () => {
    const refused = instance('a', {
      facts: { isAsked: true, players: 2 },
      byItself: () => ({ refusal: 'no room' }),
    });
    expect(await forecast([refused])).toMatchObject({ restart: 0, keep: 1, waitForPlayers: 0, older: 1 });
  });

  it('takes no content where that is in force already', async () => {
    expect(await forecast([instance('a', { facts: { asks: 'none' }, isOtherProcess: false })])).toMatchObject(
      {
        keep: 1,
        older: 0,
      },
    );
  });

  it('restarts what was never ready, and waits for nobody', async () => {
    const broken = instance('a', { facts: { awaitsFirstStart: true, players: 2 } });
    expect(await forecast([broken, instance('b')])).toMatchObject({
      restart: 1,
      waitForPlayers: 0,
      older: 1,
    });
  });

  it('gives what waits for a place the content, and restarts nothing', async () => {
    const waiting = instance('a', { facts: { awaitsFirstStart: true }, byItself: () => 'taken' });
    expect(await forecast([waiting])).toMatchObject({ restart: 0, keep: 1, older: 0 });
  });

  it('restarts nothing for fields that hold at once', async () => {
    const byItself = () => expect.fail('nobody asked');
    expect(
      await forecast([instance('a', { facts: { asks: 'live' }, isOtherProcess: false, byItself })]),
    ).toMatchObject({
      restart: 0,
      keep: 1,
      older: 0,
    });
  });
});
