/**
 * Whatever is accepted from outside can be written, read and started on: messages of nodes, `PUT state`, configurations.
 * `DROVER_PROPERTY_RUNS` makes longer runs; the seed stands in the message of a failure.
 */
import fc from 'fast-check';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { stateBody } from '../../src/api/routes/instances/instance-schemas.js';
import { messageSchema, PROTOCOL_VERSION, reportSchema } from '../../src/channel/protocol/messages.js';
import { createInProcessPair } from '../../src/channel/protocol/transport.js';
import { configurationSchema, hashConfiguration } from '../../src/model/configuration.js';
import { InstanceWriter } from '../../src/state/instance-writes.js';
import { MasterState } from '../../src/state/master-state.js';
import { configurationKey, instanceKey, revisionKey } from '../../src/store/keys.js';
import { create, type Store } from '../../src/store/store.js';
import { mutated, valuesOf } from '../support/api/openapi-arbitraries.js';
import { HELLO } from '../support/channel/messages.js';
import { hubOver, intakeOver } from '../support/channel/test-hub.js';
import { instanceRecord, placedOn } from '../support/control-plane/records.js';
import { FakeClock } from '../support/fake-clock.js';
import { MemoryStore } from '../support/store/memory-store.js';

const RUNS = Number(process.env.DROVER_PROPERTY_RUNS ?? 60);
const ID = 'aaaaaa';
const silent = pino({ level: 'silent' });
const SOURCE = {
  document: { openapi: '3.1.0', paths: {}, components: { schemas: {}, responses: {} } },
  known: {},
};

/** Inputs of a schema: most right, some nearly, some absurd. */
function inputsOf(schema: z.ZodType): fc.Arbitrary<unknown> {
  const right = valuesOf(
    SOURCE,
    z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'inline' }),
  );
  return fc.oneof({ weight: 3, arbitrary: right }, { weight: 2, arbitrary: mutated(right) });
}

/** Those inputs that the schema accepts, as they come over the wire. */
function acceptedBy<T>(
  schema: z.ZodType<T>,
  inputs: fc.Arbitrary<unknown> = inputsOf(schema),
): fc.Arbitrary<T> {
  return inputs
    .map((input) => withoutFaults(schema, JSON.parse(JSON.stringify(input) ?? 'null')))
    .filter((input) => schema.safeParse(input).success)
    .map((input) => schema.parse(schema.parse(input)));
}

/** The input without its fields that have a fault: rules between fields refuse nearly everything that is drawn. */
function withoutFaults(schema: z.ZodType, input: unknown): unknown {
  const { error } = schema.safeParse(input);
  if (error === undefined || typeof input !== 'object' || input === null) return input;
  const faulty = new Set(error.issues.map(({ path: [field] }) => String(field)));
  const rest = Object.entries(input).filter(([field]) => !faulty.has(field));
  return rest.length === Object.keys(input).length ? input : withoutFaults(schema, Object.fromEntries(rest));
}

const messageInputs = (type: string): fc.Arbitrary<unknown> => {
  const option = messageSchema.options.find(({ shape }) => shape.type.value === type);
  return inputsOf(option ?? expect.fail(`there is no message ${type}`)).map((input) => ({
    ...Object(input),
    type,
  }));
};

/** A store with the same content, as the next start reads it from disk. */
async function reopened(store: Store): Promise<MemoryStore> {
  const next = new MemoryStore();
  const { entries } = await store.list('');
  for (const { key, value } of entries) await create(next, key, JSON.parse(JSON.stringify(value)));
  return next;
}

/** Does `work` on a master's state with one placed instance; then another start reads all of it, and reads the same. */
async function expectReadable(work: (state: MasterState, store: Store) => Promise<void>): Promise<void> {
  const store = new MemoryStore();
  const state = new MasterState(store, silent);
  await create(store, instanceKey(ID), instanceRecord(ID, { placement: placedOn('alpha') }));
  await state.start();
  await work(state, store);
  const next = await reopened(store);
  const again = new MasterState(next, silent);
  await again.start();
  for (const one of [state, again]) expect([...one.unreadable()]).toEqual([]);
  const shown = ({ instances, nodes, configurations }: MasterState): unknown =>
    JSON.parse(
      JSON.stringify(
        [instances, nodes, configurations].map((mirror) =>
          [...mirror.entries()].map(([id, { value }]) => [id, value]),
        ),
      ),
    );
  expect(shown(again)).toEqual(shown(state));
  await Promise.all([state.stop(), again.stop()]);
}

/** Says `messages` as node alpha, on a connection. */
async function sayToHub(state: MasterState, messages: readonly object[]): Promise<void> {
  const clock = new FakeClock();
  const hub = hubOver(state, clock);
  const [mine, its] = createInProcessPair();
  hub.accept(its);
  for (const message of messages) mine.send(messageSchema.parse(message));
  await clock.settle();
  await hub.stop();
}

describe('whatever is accepted can be written, read and started on', () => {
  it('of the reports of a node', async () => {
    const reports = fc.array(acceptedBy(reportSchema), { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(reports, async (all) => {
        await expectReadable(async (state) => {
          for (const report of all)
            await intakeOver(state, new FakeClock()).take('alpha', [{ ...report, id: ID }]);
        });
      }),
      { numRuns: RUNS },
    );
  });

  it('of what a node says of itself', async () => {
    const said = fc.record({
      hello: acceptedBy(messageSchema, messageInputs('hello')),
      offer: acceptedBy(messageSchema, messageInputs('offer')),
    });
    await fc.assert(
      fc.asyncProperty(said, async (messages) => {
        const greeting = { ...messages.hello, protocol: PROTOCOL_VERSION, clusterName: 'test' };
        await expectReadable((state) => sayToHub(state, [greeting, messages.offer]));
      }),
      { numRuns: RUNS },
    );
  });

  it('of the state that an app puts', async () => {
    await fc.assert(
      fc.asyncProperty(
        acceptedBy(stateBody),
        async ({ state: reported, lastHeartbeat, players, maxPlayers, tps }) => {
          await expectReadable(async (state, store) => {
            const writer = new InstanceWriter({ ...state, store, clock: new FakeClock() });
            await writer.reportState(ID, {
              state: reported,
              lastHeartbeat: lastHeartbeat ?? undefined,
              players,
              maxPlayers,
              tps,
            });
          });
        },
      ),
      { numRuns: RUNS },
    );
  });

  it('of a configuration', async () => {
    await fc.assert(
      fc.asyncProperty(acceptedBy(configurationSchema), async (configuration) => {
        await expectReadable(async (state, store) => {
          const hash = hashConfiguration(configuration);
          const value = { configuration, hash, sourceFile: 'a.json', sourceNode: 'alpha' };
          const revision = await store.transact([
            { do: 'put', key: configurationKey(configuration.name), value },
            { do: 'put', key: revisionKey(hash), value: configuration },
          ]);
          await state.configurations.until(revision);
          expect(
            hashConfiguration(configurationSchema.parse(JSON.parse(JSON.stringify(configuration)))),
          ).toBe(hash);
        });
      }),
      { numRuns: RUNS },
    );
  });
});

it('a message that no record could hold is refused, and its connection ended', async () => {
  await expectReadable(async (state) => {
    const report = {
      ...{ id: ID, restartToken: 0, state: 'ONLINE', reason: null, message: null, pid: 1, exitCode: null },
      ...{ exitSignal: null, busyPort: null, gone: false, restarts: 0 },
    };
    const status = { type: 'status', sequence: 1, reports: [report] };
    expect(messageSchema.safeParse(status).success).toBe(true);
    for (const wrong of [{ restarts: -1 }, { restartToken: -1 }, { busyPort: 0 }, { busyPort: 65_536 }])
      expect(messageSchema.safeParse({ ...status, reports: [{ ...report, ...wrong }] }).success).toBe(false);
    await sayToHub(state, [HELLO, status]);
    expect(state.instances.get(ID)?.value.status.state).toBe('ONLINE');
  });
});
