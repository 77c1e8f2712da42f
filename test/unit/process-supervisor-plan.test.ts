/** The supervisor's decisions: what is wanted and what is there in, steps and the time of the next look out. */
import { describe, expect, it } from 'vitest';
import type { SupervisorFacts } from '../../controllers/wrapper/process-supervisor/goal.js';
import { plan, type SupervisorStep } from '../../controllers/wrapper/process-supervisor/plan.js';
import { describe as reportOf } from '../../controllers/wrapper/process-supervisor/report.js';
import type { Assignment } from '../../src/channel/messages.js';
import type { Handle } from '../../src/node/handle-book.js';
import { desired, handle, ID, running } from '../support/wrapper-facts.js';

const NOW = 100_000;
const EXIT = { code: 1, signal: null, at: 0 };

function factsOf(fields: Partial<SupervisorFacts>): SupervisorFacts {
  const facts: SupervisorFacts = {
    id: ID,
    desired: desired(),
    isHeld: true,
    isConfirmed: true,
    handle: handle(),
    reported: undefined,
    isNodeStopping: false,
    runtimeProblem: null,
    ...fields,
  };
  // What is said of the instance has its own tests: here it was all said before.
  return 'reported' in fields ? facts : { ...facts, reported: reportOf(facts) };
}

function text(step: SupervisorStep): string {
  switch (step.do) {
    case 'signal':
      return `${step.signal} to run ${step.run}`;
    case 'check-remains':
      return `check remains of run ${step.run}${step.kill ? ' and kill them' : ''}`;
    case 'accept-restart':
      return `accept restart ${step.restartToken}`;
    case 'report':
      return `report ${step.report.state}`;
    default:
      return step.do;
  }
}

function decide(fields: Partial<SupervisorFacts>, now = NOW): string[] {
  const { steps, recheckInMs } = plan(factsOf(fields), now);
  const said = steps.map(text);
  return recheckInMs === undefined ? said : [...said, `look again in ${recheckInMs} ms`];
}

const wanted = (goal: Assignment['goal'], restartToken = 0) => ({ desired: desired({ goal, restartToken }) });
const stopping = (signal: NodeJS.Signals, signalledAgoMs: number, sinceAgoMs = signalledAgoMs) => ({
  signal,
  signalledAt: NOW - signalledAgoMs,
  since: NOW - sinceAgoMs,
});
const UNASSIGNED = { desired: undefined, isHeld: false } as const;

describe('the plan of the process supervisor', () => {
  it('begins to keep a handle for an instance that is new here, whatever is wanted of it', () => {
    expect(decide({ handle: undefined })).toEqual(['open']);
    expect(decide({ handle: undefined, ...wanted('stop') })).toEqual(['open']);
    expect(decide({ handle: undefined, ...wanted('remove') })).toEqual(['open']);
  });

  it('waits for the content of a revision before it opens or changes anything', () => {
    expect(decide({ handle: undefined, desired: undefined })).toEqual([]);
    expect(decide({ handle: running(), desired: undefined })).toEqual([]);
  });

  const tooYoung = (): Partial<Handle> => ({ exit: EXIT, streak: 2, notBefore: NOW + 700, delayMs: 1000 });

  const table: [string, Partial<SupervisorFacts>, string[]][] = [
    // wanted: run
    ['run, not prepared', {}, []],
    ['run, prepared', { handle: handle({ isPrepared: true }) }, ['start']],
    ['run, start under way', { handle: handle({ isStarting: true }) }, []],
    ['run, up', { handle: running() }, []],
    [
      'run, ended, remains not looked for',
      { handle: handle({ run: 1, hasRemains: true }) },
      ['check remains of run 1 and kill them'],
    ],
    [
      'run, ended and too early',
      { handle: handle({ isPrepared: true, ...tooYoung() }) },
      ['look again in 700 ms'],
    ],
    [
      'run, ended and due',
      { handle: handle({ isPrepared: true, ...tooYoung(), notBefore: NOW }) },
      ['start'],
    ],
    // wanted: restart
    ['restart, up', { handle: running(), ...wanted('run', 1) }, ['SIGTERM to run 1']],
    [
      'restart, down',
      { handle: handle({ run: 1, isPrepared: true }), ...wanted('run', 1) },
      ['accept restart 1'],
    ],
    [
      'restart, down and too early',
      { handle: handle(tooYoung()), ...wanted('run', 1) },
      ['accept restart 1'],
    ],
    // wanted: stop
    ['stop, up', { handle: running(), ...wanted('stop') }, ['SIGTERM to run 1']],
    ['stop, down', { handle: handle({ run: 1 }), ...wanted('stop') }, []],
    ['stop, never started', { ...wanted('stop') }, []],
    [
      'stop, down, after a restart was asked for',
      { handle: handle({ run: 1 }), ...wanted('stop', 2) },
      ['accept restart 2'],
    ],
    ['stop, start under way', { handle: handle({ isStarting: true }), ...wanted('stop') }, []],
    // wanted: the node to stop
    ['pause, up', { handle: running(), isNodeStopping: true }, ['SIGTERM to run 1']],
    ['pause, down and prepared', { handle: handle({ isPrepared: true }), isNodeStopping: true }, []],
    // wanted: gone
    ['remove, up', { handle: running(), ...wanted('remove') }, ['SIGTERM to run 1']],
    ['remove, down', { handle: handle({ run: 1 }), ...wanted('remove') }, ['clear-workspace']],
    ['remove, down and cleared', { handle: handle({ run: 1, isCleared: true }), ...wanted('remove') }, []],
    [
      'remove, down and static',
      { handle: handle({ run: 1, static: true }), desired: desired({ goal: 'remove' }, true) },
      [],
    ],
    // no longer assigned
    ['unassigned, up', { handle: running(), ...UNASSIGNED }, ['SIGTERM to run 1']],
    ['unassigned, down', { handle: handle({ run: 1 }), ...UNASSIGNED }, ['clear-workspace']],
    ['unassigned, cleared', { handle: handle({ run: 1, isCleared: true }), ...UNASSIGNED }, ['forget']],
    ['unassigned, static', { handle: handle({ run: 1, static: true }), ...UNASSIGNED }, ['forget']],
    // the master has not spoken yet
    ['unconfirmed, up', { handle: running(), ...UNASSIGNED, isConfirmed: false }, []],
    ['unconfirmed, down', { handle: handle(), ...UNASSIGNED, isConfirmed: false }, []],
  ];
  it.each(table)('%s', (_what, fields, expected) => {
    expect(decide(fields)).toEqual(expected);
  });

  it('learns what it holds from its configuration before anything else is done with it', () => {
    const unknown = handle({ run: 1, static: true, configurationName: 'unknown' });
    expect(decide({ handle: unknown, ...wanted('remove') })).toEqual(['identify']);
    expect(decide({ handle: { ...running(), configurationName: 'unknown' }, ...wanted('stop') })).toEqual([
      'identify',
    ]);
    expect(decide({ handle: unknown, ...UNASSIGNED })).toEqual(['forget']);
  });

  describe('on the stop ladder', () => {
    const climb = (fields: Partial<Handle>): string[] =>
      decide({ handle: running(fields), ...wanted('stop') });

    it('gives SIGTERM ten seconds, then kills, and kills again every second', () => {
      expect(climb({ stopping: stopping('SIGTERM', 0) })).toEqual(['look again in 10000 ms']);
      expect(climb({ stopping: stopping('SIGTERM', 9999) })).toEqual(['look again in 1 ms']);
      expect(climb({ stopping: stopping('SIGTERM', 10_000) })).toEqual(['SIGKILL to run 1']);
      expect(climb({ stopping: stopping('SIGKILL', 200, 10_200) })).toEqual(['look again in 800 ms']);
      expect(climb({ stopping: stopping('SIGKILL', 1000, 11_000) })).toEqual(['SIGKILL to run 1']);
    });

    const remains = (fields: Partial<Handle>): string[] =>
      decide({ handle: handle({ run: 1, hasRemains: true, ...fields }), ...wanted('stop') });

    it('gives what outlives the process the same time, looking every 50 ms', () => {
      expect(remains({ stopping: stopping('SIGTERM', 300) })).toEqual(['check remains of run 1']);
      expect(remains({ stopping: stopping('SIGTERM', 300), remainsCheckedAt: NOW - 20 })).toEqual([
        'look again in 30 ms',
      ]);
      expect(remains({ stopping: stopping('SIGTERM', 10_000), remainsCheckedAt: NOW - 50 })).toEqual([
        'check remains of run 1 and kill them',
      ]);
      expect(remains({ stopping: stopping('SIGKILL', 10, 300) })).toEqual([
        'check remains of run 1 and kill them',
      ]);
    });

    it('ends when nothing is left, and only then goes on to what is wanted', () => {
      const over = handle({ run: 1, stopping: stopping('SIGTERM', 300), isPrepared: true });
      expect(decide({ handle: over, ...wanted('stop') })).toEqual(['settle-stop']);
      expect(decide({ handle: over, ...wanted('remove') })).toEqual(['settle-stop']);
      expect(decide({ handle: over, ...wanted('run', 1) })).toEqual(['settle-stop']);
    });
  });

  it('forgives failures after a minute up', () => {
    expect(decide({ handle: running({ streak: 3, upSince: NOW - 59_000 }) })).toEqual([
      'look again in 1000 ms',
    ]);
    expect(decide({ handle: running({ streak: 3, upSince: NOW - 60_000 }) })).toEqual(['forgive']);
    expect(decide({ handle: running({ streak: 0, upSince: NOW - 60_000 }) })).toEqual([]);
  });

  it('starts nothing while the runtime cannot be used', () => {
    expect(decide({ handle: handle({ isPrepared: true }), runtimeProblem: 'tmux is gone' })).toEqual([]);
  });

  it('tries a new port at once, the same busy one only when its time has come', () => {
    const busy = {
      isPrepared: true,
      problem: { reason: 'port-busy', message: 'held', busyPort: 30000 },
      notBefore: NOW + 5000,
      delayMs: 5000,
    } as const;
    expect(decide({ handle: handle(busy) })).toEqual(['look again in 5000 ms']);
    expect(decide({ handle: handle(busy), desired: desired({ port: 30001 }) })).toEqual(['start']);
  });

  it('reports what is new before it acts, but not what it is about to change', () => {
    expect(decide({ handle: running(), reported: undefined })).toEqual(['report ONLINE']);
    expect(decide({ handle: running(), reported: undefined, ...wanted('stop') })).toEqual([
      'report ONLINE',
      'SIGTERM to run 1',
    ]);
    const crashed = handle({ run: 1, exit: EXIT, streak: 1, isPrepared: true });
    expect(decide({ handle: crashed, reported: undefined })).toEqual(['start']);
  });

  it('reports a stop anew when a restart was asked for in between', () => {
    const stopped = { handle: handle({ run: 1, exit: EXIT }), ...wanted('stop') };
    const said = reportOf(factsOf(stopped));
    expect(decide({ ...stopped, reported: said })).toEqual([]);
    const accepted = { handle: handle({ run: 1, exit: EXIT, restartToken: 2 }), ...wanted('stop', 2) };
    expect(decide({ ...accepted, reported: said })).toEqual(['report STOPPED']);
  });
});

describe('the report of the process supervisor', () => {
  const report = (fields: Partial<SupervisorFacts>) => {
    const said = reportOf(factsOf({ ...fields, reported: undefined }));
    return said === undefined ? 'nothing' : `${said.state} ${said.reason ?? '-'} ${said.message ?? '-'}`;
  };
  const problem = (
    reason: 'port-busy' | 'install-failed' | 'template-missing',
    busyPort: number | null = null,
  ) => ({
    reason,
    message: 'it is like this',
    busyPort,
  });

  it.each<[string, Partial<SupervisorFacts>]>([
    ['ONLINE - -', { handle: running() }],
    ['ONLINE - -', { handle: running({ stopping: null }), ...wanted('stop') }],
    [
      'ONLINE stopping stopping: SIGTERM sent',
      { handle: running({ stopping: stopping('SIGTERM', 1) }), ...wanted('stop') },
    ],
    [
      'ONLINE stopping restarting: SIGKILL sent',
      { handle: running({ stopping: stopping('SIGKILL', 1) }), ...wanted('run', 1) },
    ],
    [
      'ONLINE stopping stopping: SIGTERM sent',
      { handle: handle({ hasRemains: true, stopping: stopping('SIGTERM', 1) }), ...wanted('remove') },
    ],
    ['STOPPED stopped -', { ...wanted('stop') }],
    ['STOPPED stopped exited with code 1', { handle: handle({ exit: EXIT }), ...wanted('stop') }],
    [
      'STOPPED stopped ended by SIGTERM',
      { handle: handle({ exit: { code: null, signal: 'SIGTERM', at: 0 } }), ...wanted('stop') },
    ],
    [
      'STOPPED stopped ended while Drover was not running',
      { handle: handle({ exit: { code: null, signal: null, at: 0 } }), ...wanted('stop') },
    ],
    ['STOPPED removing -', { ...wanted('remove') }],
    ['OFFLINE node-stopped its node was stopped; it starts again with the node', { isNodeStopping: true }],
    ['nothing', { desired: undefined }],
    ['nothing', { ...UNASSIGNED }],
    ['nothing', { handle: undefined }],
    ['nothing', { handle: handle({ isPrepared: true }) }],
    ['CREATING runtime-unavailable no tmux here', { runtimeProblem: 'no tmux here' }],
    [
      'OFFLINE runtime-unavailable no tmux here',
      { runtimeProblem: 'no tmux here', handle: handle({ exit: EXIT, streak: 1 }) },
    ],
    [
      'CREATING install-failed it is like this; next try in 2 s',
      { handle: handle({ problem: problem('install-failed'), notBefore: NOW, delayMs: 1900 }) },
    ],
    [
      'CREATING template-missing it is like this',
      { handle: handle({ problem: problem('template-missing') }) },
    ],
    ['OFFLINE exited exited with code 1, restart 1 at once', { handle: handle({ exit: EXIT, streak: 1 }) }],
    [
      'OFFLINE exited exited with code 1, restart 3 in 4 s',
      { handle: handle({ exit: EXIT, streak: 4, restarts: 2, notBefore: NOW, delayMs: 3700 }) },
    ],
    [
      'OFFLINE exited exited with code 1, restart 2 in 0.9 s',
      { handle: handle({ exit: EXIT, streak: 2, restarts: 1, notBefore: NOW, delayMs: 880 }) },
    ],
    [
      'CREATING installing installing templates',
      { desired: desired({ templates: [{ group: 'g', name: 't', priority: 0, digest: null }] }) },
    ],
  ])('%s', (expected, fields) => {
    expect(report(fields)).toBe(expected);
  });

  it('carries pid, restarts, exit and the restart that was acted on', () => {
    const fields = {
      handle: running({ restarts: 4, exit: { code: null, signal: 'SIGSEGV', at: 5 }, restartToken: 3 }),
    };
    expect(reportOf(factsOf({ ...fields, ...wanted('run', 3) }))).toEqual({
      id: ID,
      restartToken: 3,
      state: 'ONLINE',
      reason: null,
      message: null,
      pid: 42,
      restarts: 4,
      exitCode: null,
      exitSignal: 'SIGSEGV',
      busyPort: null,
      gone: false,
    });
  });

  it('names the busy port', () => {
    const fields = {
      handle: handle({ problem: problem('port-busy', 30000), notBefore: NOW, delayMs: 5000 }),
    };
    expect(reportOf(factsOf(fields))).toMatchObject({
      reason: 'port-busy',
      busyPort: 30000,
      state: 'CREATING',
    });
  });

  it('says gone only when nothing lives and the directory is cleared or kept on purpose', () => {
    const isGone = (fields: Partial<Handle>, goal: Assignment['goal'] = 'remove') =>
      reportOf(factsOf({ handle: handle(fields), desired: desired({ goal }, fields.static === true) }))?.gone;
    expect(isGone({ isCleared: true })).toBe(true);
    expect(isGone({ static: true })).toBe(true);
    expect(isGone({})).toBe(false);
    expect(isGone({ isCleared: true, hasRemains: true })).toBe(false);
    expect(isGone({ isCleared: true }, 'stop')).toBe(false);
    expect(reportOf(factsOf({ handle: running({ isCleared: true }), ...wanted('remove') }))?.gone).toBe(
      false,
    );
  });
});
