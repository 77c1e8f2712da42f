/** The clients of the master: they write files and make requests, and follow each to its answer. */

import type { Master } from '../../../src/master.js';
import { configurationSchema } from '../../../src/model/configuration.js';
import { DroverError, type ErrorCode } from '../../../src/model/errors.js';
import { instanceIdOf } from '../../../src/model/names.js';
import { type Fleet, textOf } from '../fleet.js';
import { type Machine, RUNTIME_KEY } from '../machine/machine.js';
import { commandOf, READY_LINE, STOP_COMMAND } from '../machine/program.js';
import { TEMPLATE_GROUP } from '../machine/templates.js';
import { UNKNOWN_OUTCOME } from '../masters/masters.js';
import type { Wish } from './intents.js';
import { JOB, type JobShape, type Lifecycle, type Operation, type ServiceShape } from './operations.js';

/** What a client may be refused with while things go wrong. */
const EXPECTED: readonly ErrorCode[] = [
  'DRV_INSTANCE_UNKNOWN',
  'DRV_CONFIGURATION_UNKNOWN',
  'DRV_REQUEST_INVALID',
  'DRV_UPDATE_REFUSED',
  'DRV_NODE_UNKNOWN',
  'DRV_STORE_WRITE_FAILED',
  'DRV_STORE_CLOSED',
  'DRV_NOT_LEADER',
  'DRV_NOT_READY',
];

const RUN_AGAIN_MS = 1000;

export class Clients {
  readonly #fleet: Fleet;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  put(name: string, shape: ServiceShape): void {
    const { minimum, maximum, ports, hostAddress, ramMB, templates, node } = shape;
    const { readiness, stopCommand, stopTimeoutSeconds, isWatched = false, ends = null, waitsFor } = shape;
    this.#fleet.invariants.noteWanted(name, minimum);
    this.#fleet.files.set(
      name,
      configurationSchema.parse({
        name,
        runtime: RUNTIME_KEY,
        command: commandOf({
          readyAfterMs: readiness?.afterMs ?? null,
          heedsStopCommand: stopCommand === 'heeded',
          ticks: isWatched,
          ends,
        }),
        cpu: 1,
        ramMB,
        static: shape.static,
        minimumServiceCount: minimum,
        schedules: [{ name: 'tick', cron: '* * * * *', do: 'command', command: 'tick', withinMinutes: 1 }],
        ...(shape.restartPolicy !== undefined && { restartPolicy: shape.restartPolicy }),
        ...(maximum !== undefined && { maximumServiceCount: maximum }),
        ...(ports !== undefined && { availablePorts: ports }),
        ...(ports !== undefined && shape.sharesPort === true && { sharePort: 'reuse' }),
        ...(waitsFor !== undefined && waitsFor.length > 0 && { waitsFor }),
        ...(ports !== undefined &&
          ramMB === 300 && {
            ports: {
              near: { next: 1, protocol: 'udp' },
              query: { min: 30_001, max: ports.max + 2, protocol: 'tcp' },
            },
          }),
        ...(hostAddress !== undefined && { hostAddress }),
        ...(node !== undefined && { nodes: [`node${node}`] }),
        ...(readiness !== undefined && {
          readiness: { logLine: READY_LINE, timeoutSeconds: readiness.timeoutSeconds },
        }),
        ...(isWatched && { liveness: { logSilenceSeconds: 15, intervalSeconds: 5 } }),
        ...(stopCommand !== undefined && { stopCommand: STOP_COMMAND }),
        ...(stopTimeoutSeconds !== undefined && { stopTimeoutSeconds }),
        templateInstallationConfig: {
          allOf: templates.map((template) => ({ group: TEMPLATE_GROUP, name: template })),
        },
      }),
    );
    this.#syncFiles();
  }

  putJob({ ends, timeoutSeconds, retries, isScheduled }: JobShape): void {
    this.#fleet.files.set(
      JOB,
      configurationSchema.parse({
        name: JOB,
        runtime: RUNTIME_KEY,
        command: commandOf({ readyAfterMs: null, heedsStopCommand: false, ends }),
        cpu: 1,
        ramMB: 50,
        minimumServiceCount: 0,
        restartPolicy: retries === undefined ? 'never' : 'on-failure',
        job: {
          ...(timeoutSeconds !== undefined && { timeoutSeconds }),
          ...(retries !== undefined && { retries }),
        },
        ...(isScheduled && { schedules: [{ name: 'run', cron: '* * * * *', do: 'run', withinMinutes: 1 }] }),
      }),
    );
    this.#syncFiles();
  }

  /** Asks for the run with this key, and again while the answer is not known, as `drover run` tells people to. */
  run(key: string): void {
    const { invariants } = this.#fleet;
    const again = (): void => this.#fleet.later(RUN_AGAIN_MS, () => this.run(key));
    // Somebody may have removed it since.
    if (invariants.book.everSeen.includes(instanceIdOf(`${JOB} ${key}`))) return;
    const { master } = this.#fleet.reached ?? {};
    if (master === undefined) {
      again();
      return;
    }
    invariants.noteAsked(1);
    const answer = master.led().controllers.creations.create(JOB, { parameters: {}, key });
    this.#refusable(
      answer.then(
        ({ id }) => invariants.noteRun(key, id),
        (error: unknown) => {
          if (!DroverError.is(error, 'DRV_CONFIGURATION_UNKNOWN')) again();
          throw error;
        },
      ),
    );
  }

  drop(name: string): void {
    this.#fleet.files.delete(name);
    this.#syncFiles();
  }

  create(name: string, count: number): void {
    const { invariants } = this.#fleet;
    this.#withMaster((master) => {
      invariants.noteAsked(count);
      for (let created = 0; created < count; created++)
        this.#refusable(
          master
            .led()
            .controllers.creations.create(name)
            .then(({ id }) => {
              if (!invariants.book.everSeen.includes(id))
                invariants.report(`${id} was created, but not recorded`);
            }),
        );
    });
  }

  setLifecycle(pick: number, targets: readonly Lifecycle[]): void {
    this.#onPicked(pick, (id, master) => {
      for (const target of targets) this.#ask(id, target, askFor(master, id, target));
    });
  }

  remove(pick: number): void {
    this.#onPicked(pick, (id, { writer }) => this.#ask(id, 'delete', writer.remove(id)));
  }

  putState({ pick, state }: Operation & { do: 'put-state' }): void {
    this.#onPicked(pick, (id, { writer }) => {
      const answer = writer.reportState(id, { state });
      if (state === 'STOPPED') this.#ask(id, 'report-stopped', answer);
      else this.#refusable(answer);
    });
  }

  setPlayers(pick: number, players: number): void {
    this.#onPicked(pick, (id, { writer }) =>
      this.#refusable(writer.reportState(id, { state: 'ONLINE', players })),
    );
  }

  revive(pick: number): void {
    const stopped = [...this.#fleet.invariants.book.instances.values()].filter(
      ({ desired }) => desired.goal === 'stop',
    );
    const id = stopped[pick % stopped.length]?.id;
    if (id !== undefined)
      this.#withMaster(({ writer }) => this.#ask(id, 'start', writer.setLifecycle(id, 'start')));
  }

  /** Instances of the configuration say that they are stopped as soon as they have started, until the calm. */
  quit(name: string): void {
    this.#fleet.onStarted((id) => {
      if (this.#fleet.invariants.book.instances.get(id)?.configurationName !== name) return;
      this.#withMaster(({ writer }) =>
        this.#ask(id, 'report-stopped', writer.reportState(id, { state: 'STOPPED' })),
      );
    });
  }

  changeNode(nodeId: string, change: 'cordon' | 'uncordon'): void {
    this.#withMaster(({ nodeWriter }) => this.#refusable(nodeWriter[change](nodeId)));
  }

  drain(nodeId: string, withinMs: number): void {
    this.#withMaster(({ nodeWriter }) => this.#refusable(nodeWriter.drain(nodeId, withinMs)));
  }

  /** What runs there is left to itself. Repeatable: one that was cut short goes on. */
  forget({ nodeId }: Machine): void {
    const { invariants } = this.#fleet;
    this.#withMaster(({ nodeWriter }) => {
      invariants.noteForgotten(nodeId);
      this.#refusable(
        nodeWriter.forget(nodeId, { force: true }).then(({ instances }) => {
          if (this.#fleet.network.shutOut.has(nodeId)) invariants.judgeForgotten(nodeId, instances);
        }),
      );
    });
  }

  /** One of the instances that clients can see. */
  picked(pick: number): string | undefined {
    const { everSeen, instances } = this.#fleet.invariants.book;
    const ids = everSeen.filter((id) => (instances.get(id)?.desired.goal ?? 'remove') !== 'remove');
    return ids[pick % ids.length];
  }

  /** One of several masters may refuse it: who applies files tries again. */
  #syncFiles(): void {
    const { masters, master } = this.#fleet;
    if (masters === undefined) this.#refusable(master?.syncFiles());
    else this.#fleet.applyFiles();
  }

  #ask(id: string, wish: Wish, answer: Promise<unknown>): void {
    this.#refusable(this.#fleet.invariants.follow(id, wish, answer));
  }

  /** It may be refused, but not break. */
  #refusable(answer: Promise<unknown> | undefined): void {
    answer?.catch((error: unknown) => {
      const expected = this.#fleet.masters === undefined ? EXPECTED : [...EXPECTED, ...UNKNOWN_OUTCOME];
      if (!(error instanceof DroverError) || !expected.includes(error.code))
        this.#fleet.invariants.report(textOf(error));
    });
  }

  #withMaster(action: (master: Master) => void): void {
    const master = this.#fleet.reached?.master;
    if (master !== undefined) action(master);
  }

  #onPicked(pick: number, action: (id: string, master: Master) => void): void {
    const id = this.picked(pick);
    if (id !== undefined) this.#withMaster((master) => action(id, master));
  }
}

async function askFor(master: Master, id: string, target: Lifecycle): Promise<unknown> {
  switch (target) {
    case 'update':
      return master.led().controllers.updates.update(id);
    case 'update-when-empty':
      return master.led().controllers.updates.updateWhenEmpty(id);
    default:
      return master.writer.setLifecycle(id, target);
  }
}
