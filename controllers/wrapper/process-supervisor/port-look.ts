/**
 * Looks whether a running instance listens on the port that clients are told. The first look comes when the time for
 * its readiness is over; later looks follow only until the instance listens.
 */
import { messageOf } from '../../../src/model/errors.js';
import { listText } from '../../../src/model/words.js';
import { fieldsOf, type Handle, nameOf, processOf } from '../../../src/node/handle.js';
import type { PortFinding } from '../../../src/runtime/listening.js';
import type { NodeParts } from '../parts.js';
import type { SupervisorFacts } from './goal.js';
import type { SupervisorPlan } from './steps.js';

/** How long an instance without a readiness check may take until it listens. */
const LISTENS_AFTER_MS = 60_000;
const LOOK_AGAIN_MS = 15_000;

/** The look at the port of a process that is up and wanted. */
export function planPortLook(facts: SupervisorFacts, handle: Handle, now: number): SupervisorPlan {
  const { run, port, phase, listens } = handle;
  if (port == null || phase.is !== 'up') return { steps: [] };
  if (listens?.run === run && listens.missing === null) return { steps: [] };
  const seconds = facts.desired?.configuration.readiness?.timeoutSeconds;
  const firstAt = (phase.since ?? now) + (seconds === undefined ? LISTENS_AFTER_MS : seconds * 1000);
  const dueAt = facts.portLookedAt == null ? firstAt : facts.portLookedAt + LOOK_AGAIN_MS;
  return dueAt <= now ? { steps: [{ do: 'look-at-port', run }] } : { steps: [], recheckInMs: dueAt - now };
}

/** The warning of a run that does not listen on its port; null: it listens, or was not looked at. */
export function portWarning({ run, phase, listens }: Handle): string | null {
  return phase.is === 'up' && listens?.run === run ? listens.missing : null;
}

export class PortLooks {
  readonly #parts: NodeParts;
  /** The last look at each instance, whose run may be over. */
  readonly #looked = new Map<string, { readonly run: number; readonly at: number }>();

  constructor(parts: NodeParts) {
    this.#parts = parts;
  }

  /** When the run was last looked at, monotonic ms, or null. */
  lookedAt(id: string, run: number | undefined): number | null {
    const looked = this.#looked.get(id);
    return looked === undefined || looked.run !== run ? null : looked.at;
  }

  forget(id: string): void {
    this.#looked.delete(id);
  }

  /** Looks, and notes the result in the handle. Throws Conflict when the run is over. */
  async look(id: string, run: number): Promise<void> {
    const { handles, clock, logger } = this.#parts;
    const handle = handles.requireUp(id, run);
    if (handle.port == null) return;
    let finding: PortFinding | undefined;
    try {
      finding = await listenerOf(this.#parts, handle, handle.port);
    } catch (error) {
      logger.debug({ instance: id, reason: messageOf(error) }, `the port of ${id} could not be looked at`);
    }
    this.#looked.set(id, { run, at: clock.monotonic() });
    const { listens } = handles.requireUp(id, run);
    // The runtime gave no answer: the change makes the plan look again later.
    if (finding === undefined) return handles.change(id, {});
    const missing = typeof finding === 'string' ? null : sayMissing(handle.port, finding.elsewhere);
    const before = listens?.run === run ? listens.missing : null;
    handles.change(id, { listens: { run, missing } });
    if (missing === before) return;
    const fields = { ...fieldsOf(handle), port: handle.port };
    if (missing !== null) logger.warn(fields, `${nameOf(handle)}: ${missing}`);
    else logger.info(fields, `${nameOf(handle)} listens on its port ${handle.port} now`);
  }
}

/** Whether the run itself listens on the port. Throws when its runtime does not answer. */
export async function listenerOf(
  { runtimes, findListener }: NodeParts,
  handle: Handle,
  port: number,
): Promise<PortFinding> {
  const process = processOf(handle);
  if (process === null) return 'unknown';
  const pid = 'pid' in process ? process.pid : null;
  const runtime = runtimes.require(handle.runtime);
  return findListener({ instanceId: handle.id, run: handle.run, runtime, pid }, port);
}

function sayMissing(port: number, elsewhere: readonly string[]): string {
  const instead = elsewhere.length === 0 ? '' : `, but on ${listText(elsewhere, elsewhere.length)}`;
  return `it does not listen on its port ${port}${instead}: let its command or its files take the port from %PORT%`;
}
