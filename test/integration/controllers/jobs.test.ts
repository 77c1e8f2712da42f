/** Jobs over a real master with a wrapper, fake runtimes and a virtual clock. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type ConfigurationInput, configurationSchema } from '../../../src/model/configuration.js';
import { entryOf } from '../../../src/model/schedule.js';
import { ControlPlane, type TestNode } from '../../support/control-plane/control-plane.js';
import { FakeClock } from '../../support/fake-clock.js';

const MINUTE = 60_000;
let clock: FakeClock;
let plane: ControlPlane;
let alpha: TestNode;

beforeEach(async () => {
  clock = new FakeClock();
  plane = new ControlPlane({ clock });
  await plane.start();
  alpha = await plane.addNode('alpha');
  await clock.advance(MINUTE - (clock.now() % MINUTE) + 1000);
});

afterEach(async () => {
  const stopped = plane.stop();
  await clock.advance(20_000);
  await stopped;
});

async function put(fields: Partial<ConfigurationInput> = {}): Promise<void> {
  await plane.putConfiguration({
    name: 'report',
    runtime: 'process',
    command: 'run',
    ramMB: 10,
    cpu: 1,
    minimumServiceCount: 0,
    restartPolicy: 'never',
    job: { parameters: { DAY: {}, FORMAT: { default: 'text' } }, timeoutSeconds: 100 },
    ...fields,
  });
  await clock.advance(1000);
}

const order = { parameters: { DAY: 'monday' }, key: 'one' };
const create = async (asked: Partial<typeof order> & { timeoutSeconds?: number } = {}) => {
  const made = await plane.master.led().controllers.creations.create('report', { ...order, ...asked });
  await clock.advance(1000);
  return made.id;
};
/** The handle on the disk of the node at the last start: what a daemon that is killed then leaves. */
function keptAtStart(): () => unknown {
  const start = alpha.runtime.start.bind(alpha.runtime);
  let kept: unknown;
  alpha.runtime.start = async (spec) => {
    kept = (await alpha.store.get(`handles/${spec.instanceId}`))?.value;
    return start(spec);
  };
  return () => kept;
}
const recordOf = (id: string) => plane.master.state.instances.get(id)?.value;

it('runs once for each key, over a failover too, and hands its parameters to the node', async () => {
  await put();
  const id = await create();
  expect(recordOf(id)?.job?.parameters).toEqual({ DAY: 'monday', FORMAT: 'text' });
  expect(alpha.wrapper.status().instances.map((one) => one.id)).toEqual([id]);
  await plane.replaceMaster();
  await clock.advance(10_000);
  expect(await create()).toBe(id);
  alpha.runtime.end(id, { code: 0, signal: null });
  await clock.advance(5000);
  expect(await create()).toBe(id);
  expect(alpha.runtime.starts).toHaveLength(1);
  expect(await create({ key: 'two' })).not.toBe(id);
});

it('is not started again when its node lost its power just after the start, and says that', async () => {
  await put();
  const kept = keptAtStart();
  const id = await create();
  expect(kept()).toMatchObject({ run: 1, process: null });
  await alpha.wrapper.stop();
  await alpha.store.transact([{ do: 'put', key: `handles/${id}`, value: Object(kept()) }]);
  alpha.runtime.forgetAll();
  await plane.replaceWrapper(alpha);
  await clock.advance(20_000);
  expect(alpha.runtime.starts).toHaveLength(1);
  expect(recordOf(id)?.status).toMatchObject({ state: 'STOPPED', reason: 'exited' });
});

it.each([
  ['ended meanwhile', (id: string) => alpha.runtime.end(id, { code: 1, signal: null }), () => undefined],
  ['was lost with the power', () => alpha.runtime.forgetAll(), () => undefined],
  ['goes on and fails', () => undefined, (id: string) => alpha.runtime.end(id, { code: 1, signal: null })],
])('is tried again no more often where its node forgot a retry: it %s', async (_, meanwhile, later) => {
  await put({ restartPolicy: 'on-failure', job: { parameters: { DAY: {} }, retries: 1 } });
  const kept = keptAtStart();
  const id = await create();
  alpha.runtime.end(id, { code: 1, signal: null });
  await clock.advance(1000);
  expect(kept()).toMatchObject({ run: 2, process: null, restarts: 0 });
  await alpha.wrapper.stop();
  await alpha.store.transact([{ do: 'put', key: `handles/${id}`, value: Object(kept()) }]);
  meanwhile(id);
  await plane.replaceWrapper(alpha);
  await clock.advance(1000);
  later(id);
  await clock.advance(20_000);
  expect(alpha.runtime.starts).toHaveLength(2);
  expect(recordOf(id)?.status).toMatchObject({ state: 'STOPPED', reason: 'exited', restarts: 1 });
});

it('refuses a key that another order has, and keeps no run for ever that a person stopped', async () => {
  await put();
  const id = await create();
  await expect(create({ parameters: { DAY: 'friday' } })).rejects.toThrow('with other parameters');
  await plane.master.writer.setLifecycle(id, 'stop');
  await clock.advance(20_000);
  for (let run = 0; run < 10; run++) {
    alpha.runtime.end(await create({ key: `${run}` }), { code: 0, signal: null });
    await clock.advance(2000);
  }
  await clock.advance(2 * MINUTE);
  expect(recordOf(id)).toBeUndefined();
});

it('is no service: a configuration that is a job no more has its minimum beside its runs', async () => {
  await put();
  const going = await create();
  alpha.runtime.end(await create({ key: 'two' }), { code: 0, signal: null });
  await put({ job: undefined, minimumServiceCount: 1, restartPolicy: 'always', update: {} });
  await clock.advance(MINUTE);
  expect(alpha.runtime.alive).toContain(going);
  expect(alpha.runtime.alive).toHaveLength(2);
});

it('refuses what the job does not allow', async () => {
  await put();
  await expect(create({ parameters: { DAY: 'x', PATH: '/tmp' } } as never)).rejects.toThrow('"PATH" is none');
  await expect(create({ parameters: {} } as never)).rejects.toThrow('parameters.DAY: must be given');
  await put({ job: undefined });
  await expect(create()).rejects.toThrow('configuration report is no job');
});

it('ends a run at its time-out, by the ladder of stops, and keeps it to be read', async () => {
  await put();
  const id = await create({ timeoutSeconds: 30 });
  await clock.advance(25_000);
  expect(alpha.runtime.alive).toEqual([id]);
  await plane.replaceMaster();
  await clock.advance(20_000);
  expect(alpha.runtime.signals).toEqual([`${id} SIGTERM`]);
  expect(recordOf(id)).toMatchObject({
    desired: { goal: 'stop', stoppedBy: 'timeout' },
    placement: { port: null },
  });
  await clock.advance(5 * MINUTE);
  expect(recordOf(id)).toBeDefined();
});

it.each([
  [2, 'after 2 retries it does not start again'],
  [1, 'after 1 retry it does not start again'],
])('tries a run again as often as its job says, then it has ended: %i', async (retries, used) => {
  await put({ restartPolicy: 'on-failure', job: { retries } });
  const { id } = await plane.master
    .led()
    .controllers.creations.create('report', { parameters: {}, key: 'two' });
  for (let number = 1; number <= retries + 1; number++) {
    await clock.advance(MINUTE - 1000);
    expect(recordOf(id)?.status.state).toBe('ONLINE');
    alpha.runtime.end(id, { code: 7, signal: null });
    await clock.advance(1000);
    expect(recordOf(id)?.status.restarts).toBe(Math.min(number, retries));
  }
  await clock.advance(10 * MINUTE);
  const message = `exited with code 7; ${used}`;
  expect(recordOf(id)?.status).toMatchObject({ state: 'STOPPED', restarts: retries, exitCode: 7, message });
});

it('takes the values alone that its parameters allow', async () => {
  const parameters = { FORMAT: { default: 'text', values: ['text', 'csv-*'] } };
  await put({ job: { parameters } });
  const { creations } = plane.master.led().controllers;
  const made = await creations.create('report', { parameters: { FORMAT: 'csv-7' } });
  expect(recordOf(made.id)?.job?.parameters).toEqual({ FORMAT: 'csv-7' });
  await expect(creations.create('report', { parameters: { FORMAT: 'pdf' } })).rejects.toMatchObject({
    code: 'DRV_REQUEST_INVALID',
    message: 'parameters.FORMAT: must be one of text, csv-*',
  });
  const faultOf = (job: object): string | undefined =>
    configurationSchema.safeParse({
      ...{ name: 'report', command: 'run', minimumServiceCount: 0, restartPolicy: 'never', job },
    }).error?.issues[0]?.message;
  expect(faultOf({ parameters: { A: { default: 'b', values: ['c'] } } })).toBe('must be one of "values"');
  expect(faultOf({ retries: 2 })).toBe('has no effect unless restartPolicy is "on-failure"');
});

it('keeps the last ten runs', async () => {
  await put();
  for (let run = 0; run < 13; run++) {
    alpha.runtime.end(await create({ key: `${run}` }), { code: 0, signal: null });
    await clock.advance(2000);
  }
  await clock.advance(2 * MINUTE);
  expect(plane.records()).toHaveLength(10);
});

it('is started by a schedule, not while the former run goes on', async () => {
  await put({ job: {}, schedules: [{ name: 'hourly', cron: '* * * * *', do: 'run', withinMinutes: 2 }] });
  await clock.advance(MINUTE);
  const [first = ''] = alpha.runtime.alive;
  expect(first).not.toBe('');
  await clock.advance(90_000);
  expect(alpha.runtime.alive).toEqual([first]);
  alpha.runtime.end(first, { code: 0, signal: null });
  await clock.advance(10_000);
  expect(alpha.runtime.alive).toHaveLength(1);
  const timetable = plane.master.state.timetables.get('report')?.value;
  expect(timetable && entryOf(timetable, 'hourly')?.last?.message).toContain('run ');
});

it('is waited for by a drain, and not repeated elsewhere', async () => {
  await put();
  const id = await create();
  const beta = await plane.addNode('beta');
  await plane.master.nodeWriter.drain('alpha', MINUTE);
  await clock.advance(50_000);
  expect([alpha.runtime.alive, beta.runtime.starts]).toEqual([[id], []]);
  const drains = plane.master.term?.controllers.drains;
  expect(drains?.progressOf('alpha')?.waitingFor.join()).toContain(
    'a run of a job is not repeated elsewhere',
  );
  alpha.runtime.end(id, { code: 0, signal: null });
  await clock.advance(5000);
  expect(drains?.progressOf('alpha')).toMatchObject({ isDrained: true });
});
