/** The supervisor's decisions: desired and observed state in; steps and the time of the next look out. */
import { describe, expect, it } from 'vitest';
import type { SupervisorFacts } from '../../../controllers/wrapper/process-supervisor/goal.js';
import { plan } from '../../../controllers/wrapper/process-supervisor/plan.js';
import { describe as reportOf } from '../../../controllers/wrapper/process-supervisor/report.js';
import type { SupervisorStep } from '../../../controllers/wrapper/process-supervisor/steps.js';
import type { Assignment } from '../../../src/channel/protocol/messages.js';
import type { ConfigurationInput } from '../../../src/model/configuration.js';
import { DEFAULT_STOP, type StopSettings, type StopSignal } from '../../../src/model/stopping.js';
import type { Handle, Remaining, Stopping, Up } from '../../../src/node/handle.js';
import {
  checkFor,
  desired,
  down,
  handle,
  ID,
  remaining,
  running,
  starting,
  stopped,
  supervisorFacts,
} from '../../support/control-plane/wrapper-facts.js';

const NOW = 100_000;
const EXIT = { code: 1, signal: null, at: 0 };

function factsOf(fields: Partial<SupervisorFacts>): SupervisorFacts {
  const facts = supervisorFacts(fields);
  // What is said of the instance has its own tests: here it was all said before.
  return 'reported' in fields ? facts : { ...facts, reported: reportOf(facts) };
}

function text(step: SupervisorStep): string {
  switch (step.do) {
    case 'signal':
      return `${step.signal} to ${step.to === 'all' ? 'all of ' : ''}run ${step.run}`;
    case 'check-remains':
      return `check remains of run ${step.run}`;
    case 'signal-rest':
      return `signal the rest of run ${step.run}`;
    case 'write-stop-command':
      return `stop command to run ${step.run}`;
    case 'check-readiness':
      return `check readiness of run ${step.run}`;
    case 'note-not-ready':
      return `note that run ${step.run} is not ready`;
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
const stopping = (signal: Stopping['signal'], signalledAgoMs: number, sinceAgoMs = signalledAgoMs) => ({
  signal,
  begunAt: 0,
  signalledAt: NOW - signalledAgoMs,
  since: NOW - sinceAgoMs,
});
const atPort = (fields: Partial<Handle> = {}, phase: Partial<Up> = {}) =>
  running({ port: 30_000, ...fields }, phase);
const stopOf = (fields: Partial<StopSettings>): StopSettings => ({ ...DEFAULT_STOP, ...fields });
const configured = (configuration: Partial<ConfigurationInput>, assignment: Partial<Assignment> = {}) => ({
  desired: desired(assignment, false, configuration),
});
/** Wanted with the stop settings of its handle. */
const wantedToStop = (
  { command, signal, timeoutMs, leaveMs, to }: StopSettings,
  goal: Assignment['goal'] = 'stop',
  restartToken = 0,
) =>
  configured(
    {
      ...(command !== null && { stopCommand: command }),
      stopSignal: signal,
      stopTimeoutSeconds: timeoutMs / 1000,
      stopTo: to,
      ...(leaveMs > 0 && {
        availablePorts: { min: 30_000, max: 30_000 },
        expose: { host: 'a', leaveSeconds: leaveMs / 1000 },
      }),
    },
    { goal, restartToken },
  );
const PREPARED = down({ directory: 'prepared' });
const CLEARED = down({ directory: 'cleared' });
const READY = { readiness: { run: 1, isReady: true, problem: null } } as const;
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

  const early = (inMs: number, directory: 'prepared' | 'stale' = 'prepared'): Handle =>
    handle({
      exit: EXIT,
      streak: 2,
      phase: down({ directory, next: { problem: null, delay: { until: NOW + inMs, ms: 1000 } } }),
    });

  const table: [string, Partial<SupervisorFacts>, string[]][] = [
    // wanted: run
    ['run, not prepared', {}, []],
    ['run, prepared', { handle: handle({ phase: PREPARED }) }, ['start']],
    ['run, start under way', { handle: handle({ phase: starting() }) }, []],
    ['run, up', { handle: running() }, []],
    [
      'run, ended, remains not looked for',
      { handle: handle({ run: 1, phase: remaining() }) },
      ['check remains of run 1'],
    ],
    ['run, ended and too early', { handle: early(700) }, ['look again in 700 ms']],
    ['run, ended and due', { handle: early(0) }, ['start']],
    ['run, up at its port', { handle: atPort(), ...configured({}, { port: 30_000 }) }, ['look-at-port']],
    [
      'run, up at its port for 59 s',
      { handle: atPort({}, { since: NOW - 59_000 }), ...configured({}, { port: 30_000 }) },
      ['look again in 1000 ms'],
    ],
    [
      'run, up at its port, and listening',
      { handle: atPort({ listens: { run: 1, missing: null } }), ...configured({}, { port: 30_000 }) },
      [],
    ],
    [
      'run, up at its port, and not listening when it was looked at',
      {
        handle: atPort({ listens: { run: 1, missing: 'it does not listen' } }),
        ...configured({}, { port: 30_000 }),
        portLookedAt: NOW - 5000,
      },
      ['look again in 10000 ms'],
    ],
    [
      'run, up at its port, ready, before the time for its readiness is over',
      {
        handle: atPort({ readiness: { run: 1, isReady: true, problem: null } }, { since: NOW - 4000 }),
        ...configured(
          {
            availablePorts: { min: 30_000, max: 30_001 },
            readiness: { tcpPort: '%PORT%', timeoutSeconds: 5 },
          },
          { port: 30_000 },
        ),
      },
      ['look again in 1000 ms'],
    ],
    [
      'run, prepared with the files of another port',
      {
        handle: handle({
          phase: PREPARED,
          installed: { restartToken: 0, templates: [], behind: null, port: 30_000 },
        }),
        ...configured({}, { port: 30_001 }),
      },
      [],
    ],
    [
      'run, up at a port that was given back',
      { handle: running({ port: 30_000 }), ...configured({}, { port: 30_001 }) },
      ['SIGTERM to run 1'],
    ],
    [
      'run, up at a port that was given back, by a copy that may be old',
      { handle: running({ port: 30_000 }), ...configured({}, { port: 30_001 }), isConfirmed: false },
      [],
    ],
    ['run, up at a port that nobody knows', { handle: running(), ...configured({}, { port: 30_001 }) }, []],
    [
      'run, start under way at a port that was given back',
      { handle: handle({ phase: starting(), port: 30_000 }), ...configured({}, { port: 30_001 }) },
      ['cancel-start'],
    ],
    // wanted: restart
    ['restart, up', { handle: running(), ...wanted('run', 1) }, ['SIGTERM to run 1']],
    [
      'restart, down',
      { handle: handle({ run: 1, phase: PREPARED }), ...wanted('run', 1) },
      ['accept restart 1'],
    ],
    [
      'restart, down and too early',
      { handle: early(700, 'stale'), ...wanted('run', 1) },
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
    ['run, start under way', { handle: handle({ phase: starting() }) }, []],
    ['stop, start under way', { handle: handle({ phase: starting() }), ...wanted('stop') }, ['cancel-start']],
    [
      'stop, start cancelled',
      { handle: handle({ phase: starting({ isCancelled: true }) }), ...wanted('stop') },
      [],
    ],
    // wanted: the node to stop
    ['pause, up', { handle: running(), isNodeStopping: true }, ['SIGTERM to run 1']],
    ['pause, down and prepared', { handle: handle({ phase: PREPARED }), isNodeStopping: true }, []],
    // wanted: gone
    ['remove, up', { handle: running(), ...wanted('remove') }, ['SIGTERM to run 1']],
    ['remove, down', { handle: handle({ run: 1 }), ...wanted('remove') }, ['clear-workspace']],
    ['remove, down and cleared', { handle: handle({ run: 1, phase: CLEARED }), ...wanted('remove') }, []],
    [
      'remove, down and static',
      { handle: handle({ run: 1, static: true }), desired: desired({ goal: 'remove' }, true) },
      [],
    ],
    // no longer assigned
    ['unassigned, up', { handle: running(), ...UNASSIGNED }, ['SIGTERM to run 1']],
    ['unassigned, down', { handle: handle({ run: 1 }), ...UNASSIGNED }, ['clear-workspace']],
    ['unassigned, cleared', { handle: handle({ run: 1, phase: CLEARED }), ...UNASSIGNED }, ['forget']],
    ['unassigned, static', { handle: handle({ run: 1, static: true }), ...UNASSIGNED }, ['forget']],
    // the master has not spoken yet
    ['unconfirmed, up', { handle: running(), ...UNASSIGNED, isConfirmed: false }, []],
    ['unconfirmed, down', { handle: handle(), ...UNASSIGNED, isConfirmed: false }, []],
    [
      'run unconfirmed, up, with failures to forget',
      { handle: running({ streak: 2 }, { since: NOW - 60_000 }), isConfirmed: false },
      ['forgive'],
    ],
    // what it said before may have been outdated when this daemon's predecessor was killed
    ['stop unconfirmed, up', { handle: running(), ...wanted('stop'), isConfirmed: false }, []],
    ['remove unconfirmed, up', { handle: running(), ...wanted('remove'), isConfirmed: false }, []],
    [
      'restart unconfirmed, up',
      { handle: running(), desired: desired({ restartToken: 1 }), isConfirmed: false },
      [],
    ],
    [
      'Ctrl-C, stop unconfirmed, up',
      { handle: running(), ...wanted('stop'), isConfirmed: false, isNodeStopping: true },
      ['SIGTERM to run 1'],
    ],
    [
      'Ctrl-C, unassigned and unconfirmed, up',
      { handle: running(), ...UNASSIGNED, isConfirmed: false, isNodeStopping: true },
      ['SIGTERM to run 1'],
    ],
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

  it('takes other stop settings at once, but ends what is restarted for another content as that began', () => {
    const other = { stopCommand: 'end', stopTimeoutSeconds: 60 };
    expect(decide({ handle: running(), ...configured(other) })).toEqual(['identify']);
    expect(decide({ handle: handle({ phase: PREPARED }), ...configured(other) })).toEqual(['identify']);
    expect(decide({ handle: running(), ...configured(other, { restartToken: 1 }) })).toEqual([
      'SIGTERM to run 1',
    ]);
    const ending = running({}, { stopping: stopping('SIGTERM', 4000) });
    expect(decide({ handle: ending, ...configured(other, { goal: 'stop' }) })).toEqual([
      'look again in 6000 ms',
    ]);
  });

  it('begins a readiness check anew that asks for something else by now', () => {
    const waits = { handle: running(), ...configured({ readiness: { logLine: 'up' } }) };
    expect(decide({ ...waits, check: checkFor({ logLine: 'down' }) })).toEqual(['end-readiness-check']);
    expect(decide(waits)).toEqual(['check readiness of run 1']);
  });

  it('goes on to count as ready what came up without a check, when one is asked for later', () => {
    const up = running({ readiness: { run: 1, isReady: true, problem: null } });
    expect(decide({ handle: up, ...configured({ readiness: { logLine: 'up' } }) })).toEqual([]);
  });

  describe('with the control group of an ended run', () => {
    const ended = { handle: handle({ run: 4, exit: EXIT, phase: PREPARED }), groupRun: 4 };

    it('leaves it to the start that follows a crash', () => {
      expect(decide(ended)).toEqual(['start']);
    });

    it('removes it where no start follows, even that of an earlier run', () => {
      expect(decide({ ...ended, desired: desired({ goal: 'remove' }) })).toEqual(['close-group']);
      expect(decide({ ...ended, groupRun: 3, isNodeStopping: true })).toEqual(['close-group']);
      expect(decide({ ...ended, ...UNASSIGNED })).toEqual(['close-group']);
      const finished = handle({ run: 4, exit: EXIT, end: 'unasked', phase: PREPARED });
      expect(
        decide({ ...ended, handle: finished, desired: desired({}, false, { restartPolicy: 'never' }) }),
      ).toEqual(['close-group']);
    });

    it('leaves it to the hook that follows, and says STOPPED when it is gone', () => {
      const hooked = desired({ goal: 'stop' }, false, { after: [{ command: 'tidy' }] });
      const owing = { ...ended.handle, hooks: { ...ended.handle.hooks, owed: 0 } };
      const stopped = { ...ended, reported: undefined };
      expect(decide({ ...stopped, desired: hooked, handle: owing })).toEqual(['start']);
      expect(decide({ ...stopped, desired: desired({ goal: 'stop' }) })).toEqual(['close-group']);
      expect(decide({ ...stopped, desired: desired({ goal: 'stop' }), groupRun: null })).toEqual([
        'report STOPPED',
      ]);
    });

    it('keeps it while something of the run may live', () => {
      expect(decide({ ...ended, handle: handle({ run: 4, phase: remaining() }), ...UNASSIGNED })).toEqual([
        'check remains of run 4',
      ]);
    });
  });

  describe('on the stop ladder', () => {
    const climb = (phase: Partial<Up>): string[] => decide({ handle: running({}, phase), ...wanted('stop') });

    it('gives SIGTERM ten seconds, then kills, and kills again every second', () => {
      expect(climb({ stopping: stopping('SIGTERM', 0) })).toEqual(['look again in 10000 ms']);
      expect(climb({ stopping: stopping('SIGTERM', 9999) })).toEqual(['look again in 1 ms']);
      expect(climb({ stopping: stopping('SIGTERM', 10_000) })).toEqual(['SIGKILL to all of run 1']);
      expect(climb({ stopping: stopping('SIGKILL', 200, 10_200) })).toEqual(['look again in 800 ms']);
      expect(climb({ stopping: stopping('SIGKILL', 1000, 11_000) })).toEqual(['SIGKILL to all of run 1']);
    });

    const remains = (phase: Partial<Remaining>): string[] =>
      decide({ handle: handle({ run: 1, phase: remaining(phase) }), ...wanted('stop') });

    it('gives what outlives the process the same time, looking every 50 ms', () => {
      expect(remains({ stopping: stopping('SIGTERM', 300) })).toEqual(['check remains of run 1']);
      expect(remains({ stopping: stopping('SIGTERM', 300), checkedAt: NOW - 20 })).toEqual([
        'look again in 30 ms',
      ]);
      const left = { checkedAt: NOW - 50, left: ['java'] };
      expect(remains({ stopping: stopping('SIGTERM', 10_000), ...left })).toEqual([
        'SIGKILL to all of run 1',
      ]);
      expect(remains({ stopping: stopping('SIGKILL', 10, 300), ...left })).toEqual([
        'check remains of run 1',
      ]);
    });

    it('looks more seldom where a stop takes long, for each look reads all of /proc', () => {
      const looked = { checkedAt: NOW - 50, left: ['java'] };
      expect(remains({ stopping: stopping('SIGTERM', 1000), ...looked })).toEqual(['look again in 200 ms']);
    });

    it('has what a crash left climb from its first rung, once a second look has found it', () => {
      const crashed = (phase: Partial<Remaining>, stop: Partial<StopSettings> = {}) =>
        decide({
          handle: handle({ run: 1, phase: remaining(phase), stop: stopOf(stop) }),
          ...wantedToStop(stopOf(stop), 'run'),
        });
      const left = { checkedAt: NOW - 50, left: ['java'] };
      expect(crashed({ checkedAt: NOW - 20 })).toEqual(['look again in 30 ms']);
      expect(crashed({ checkedAt: NOW - 50 })).toEqual(['check remains of run 1']);
      expect(crashed(left, { signal: 'SIGINT', to: 'all' })).toEqual(['SIGINT to all of run 1']);
      expect(crashed(left, { command: 'stop', timeoutMs: 0 })).toEqual(['SIGKILL to all of run 1']);
      expect(crashed({ ...left, ending: stopping('SIGTERM', 300) })).toEqual(['check remains of run 1']);
      expect(crashed({ ...left, ending: stopping('SIGTERM', 10_000) })).toEqual(['SIGKILL to all of run 1']);
    });

    it('gives the rest the signal when the main processes have ended', () => {
      const mains = [{ pid: 43, startTime: 7 }];
      const spared = (ms: number, lookedAgoMs: number) =>
        climb({ stopping: { ...stopping('SIGTERM', ms), mains, lookedAt: NOW - lookedAgoMs } });
      expect(spared(300, 20)).toEqual(['look again in 30 ms']);
      expect(spared(300, 50)).toEqual(['signal the rest of run 1']);
      expect(spared(3000, 50)).toEqual(['look again in 200 ms']);
      expect(spared(10_000, 0)).toEqual(['SIGKILL to all of run 1']);
    });

    it('stands still at a rung that the runtime did not take, and tries it again every second', () => {
      const refused = (signal: StopSignal | null | 'none', ms: number, lookedAgoMs: number) =>
        climb({ stopping: { ...stopping(signal, ms), problem: 'away', lookedAt: NOW - lookedAgoMs } });
      expect(refused('none', 60_000, 300)).toEqual(['look again in 700 ms']);
      expect(refused('none', 60_000, 1000)).toEqual(['SIGTERM to run 1']);
      expect(refused('SIGTERM', 60_000, 1000)).toEqual(['SIGKILL to all of run 1']);
    });

    it('ends when nothing is left, and only then goes on to what is wanted', () => {
      const over = handle({ run: 1, phase: stopped() });
      expect(decide({ handle: over, ...wanted('stop') })).toEqual(['settle-stop']);
      expect(decide({ handle: over, ...wanted('remove') })).toEqual(['settle-stop']);
      expect(decide({ handle: over, ...wanted('run', 1) })).toEqual(['settle-stop']);
    });

    it('says nothing of a state that its next step ends', () => {
      const over = handle({ run: 1, phase: stopped() });
      const unsaid = { reported: undefined };
      expect(decide({ handle: over, ...wanted('stop'), ...unsaid })).toEqual(['settle-stop']);
      expect(decide({ handle: handle({ run: 1 }), ...wanted('run', 1), ...unsaid })).toEqual([
        'accept restart 1',
      ]);
      expect(decide({ handle: handle({ run: 1 }), ...wanted('stop'), ...unsaid })).toEqual([
        'report STOPPED',
      ]);
    });
  });

  describe('on the stop ladder of a configuration', () => {
    const ending = (stop: Partial<StopSettings>, phase: Partial<Up> = {}): string[] =>
      decide({ handle: running({ stop: stopOf(stop) }, phase), ...wantedToStop(stopOf(stop)) });
    const WITH_COMMAND = { command: 'save and quit', timeoutMs: 30_000 } as const;

    it('begins with the stop command, else with the stop signal, and with SIGKILL where no time is given', () => {
      expect(ending(WITH_COMMAND)).toEqual(['stop command to run 1']);
      expect(ending({ signal: 'SIGINT' })).toEqual(['SIGINT to run 1']);
      expect(ending({ ...WITH_COMMAND, timeoutMs: 0 })).toEqual(['SIGKILL to all of run 1']);
    });

    it('gives a hook no time to leave: no proxy has it', () => {
      const present = {
        run: 1,
        kind: 'prepare',
        index: 0,
        next: null,
        name: 'prepare 1',
        timeoutMs: 1000,
      } as const;
      const stop = stopOf({ ...WITH_COMMAND, leaveMs: 20_000 });
      const hooks = { present, done: 0, preparedFor: null, owed: null, runs: 1 };
      expect(decide({ handle: running({ stop, hooks }), ...wantedToStop(stop) })).toEqual([
        'SIGTERM to run 1',
      ]);
    });

    it('waits for proxies to see that the instance leaves, then climbs with all of its time', () => {
      const leaving = (agoMs: number, fields: Partial<StopSettings> = {}) =>
        ending({ leaveMs: 20_000, ...fields }, { stopping: { ...stopping('none', 0), leftAt: NOW - agoMs } });
      expect(ending({ leaveMs: 20_000 })).toEqual(['leave']);
      expect(leaving(0)).toEqual(['look again in 20000 ms']);
      expect(leaving(20_000)).toEqual(['SIGTERM to run 1']);
      expect(leaving(20_000, WITH_COMMAND)).toEqual(['stop command to run 1']);
      expect(ending({ leaveMs: 20_000, timeoutMs: 0 })).toEqual(['SIGKILL to all of run 1']);
      expect(ending({ leaveMs: 20_000 }, { stopping: stopping('SIGTERM', 0) })).toEqual([
        'look again in 10000 ms',
      ]);
    });

    it('sends the signal after half of the time, and SIGKILL when all of it is over', () => {
      const climbed = (ms: number, signal: StopSignal | null = null, sentAgoMs = ms) =>
        ending({ ...WITH_COMMAND, signal: 'SIGINT' }, { stopping: stopping(signal, sentAgoMs, ms) });
      expect(climbed(0)).toEqual(['look again in 15000 ms']);
      expect(climbed(15_000)).toEqual(['SIGINT to run 1']);
      expect(climbed(15_000, 'SIGINT', 0)).toEqual(['look again in 15000 ms']);
      expect(climbed(30_000, 'SIGINT', 15_000)).toEqual(['SIGKILL to all of run 1']);
      // The next daemon may be late: the signal has its half of the time all the same.
      expect(climbed(40_000)).toEqual(['SIGINT to run 1']);
      expect(climbed(40_000, 'SIGINT', 5000)).toEqual(['look again in 10000 ms']);
    });

    it('gives the command the whole time where the signal is SIGKILL', () => {
      const killing = { ...WITH_COMMAND, signal: 'SIGKILL' } as const;
      expect(ending(killing, { stopping: stopping(null, 15_000) })).toEqual(['look again in 15000 ms']);
    });

    it('signals what is left of a process that ended by its command, for it was not told', () => {
      const left = (phase: Partial<Remaining>) =>
        decide({
          handle: handle({ run: 1, phase: remaining(phase), stop: stopOf(WITH_COMMAND) }),
          ...wantedToStop(stopOf(WITH_COMMAND)),
        });
      expect(left({ stopping: stopping(null, 300) })).toEqual(['check remains of run 1']);
      const found = { checkedAt: NOW - 1, left: ['java'] };
      expect(left({ stopping: stopping(null, 300), ...found })).toEqual(['SIGTERM to run 1']);
      expect(left({ stopping: stopping('SIGTERM', 1, 300), ...found })).toEqual(['look again in 49 ms']);
    });

    it('is the same for a restart, a DELETE, Ctrl-C and an assignment that is gone', () => {
      const up = running({ stop: stopOf(WITH_COMMAND) });
      const asked = ['stop command to run 1'];
      const configuredAs = (goal: Assignment['goal'], token?: number) =>
        wantedToStop(stopOf(WITH_COMMAND), goal, token);
      expect(decide({ handle: up, ...configuredAs('run', 1) })).toEqual(asked);
      expect(decide({ handle: up, ...configuredAs('remove') })).toEqual(asked);
      expect(decide({ handle: up, ...configuredAs('run'), isNodeStopping: true })).toEqual(asked);
      expect(decide({ handle: up, ...UNASSIGNED })).toEqual(asked);
    });

    it('is not climbed for what is wanted again, and forgotten when its time is over', () => {
      const spared = (ms: number) => decide({ handle: running({}, { stopping: stopping('SIGTERM', ms) }) });
      expect(spared(4000)).toEqual(['look again in 6000 ms']);
      expect(spared(10_000)).toEqual(['settle-stop']);
      expect(decide({ handle: running({}, { stopping: stopping('SIGKILL', 100) }) })).toEqual([
        'settle-stop',
      ]);
      const ordered = stopOf(WITH_COMMAND);
      const commanded = (ms: number) =>
        decide({
          handle: running({ stop: ordered }, { stopping: stopping(null, ms) }),
          ...wantedToStop(ordered, 'run'),
        });
      expect(commanded(ordered.timeoutMs - 1000)).toEqual(['look again in 1000 ms']);
      expect(commanded(ordered.timeoutMs)).toEqual(['settle-stop']);
    });
  });

  describe('with a restart policy', () => {
    const ended = (exit: Handle['exit'], fields: Partial<Handle> = {}) =>
      handle({ run: 1, exit, end: 'unasked', phase: PREPARED, streak: 1, ...fields });
    const exits = {
      ok: { code: 0, signal: null, at: 0 },
      failure: { code: 3, signal: null, at: 0 },
      signal: { code: null, signal: 'SIGSEGV', at: 0 },
      unseen: { code: null, signal: null, at: 0 },
    };

    it.each<[string, ConfigurationInput['restartPolicy'], keyof typeof exits, string[]]>([
      ['always', 'always', 'ok', ['start']],
      ['always, which is the default', undefined, 'ok', ['start']],
      ['on-failure, which this is not', 'on-failure', 'ok', []],
      ['on-failure', 'on-failure', 'failure', ['start']],
      ['on-failure', 'on-failure', 'signal', ['start']],
      ['on-failure, as far as is known', 'on-failure', 'unseen', ['start']],
      ['never', 'never', 'ok', []],
      ['never', 'never', 'failure', []],
      ['never', 'never', 'unseen', []],
    ])('%s (%s, %s)', (_what, restartPolicy, exit, expected) => {
      const policy = restartPolicy === undefined ? {} : { restartPolicy };
      expect(decide({ handle: ended(exits[exit]), ...configured(policy) })).toEqual(expected);
    });

    it('starts anew what never runs again by itself when somebody asks for that', () => {
      const never = { restartPolicy: 'never' } as const;
      expect(decide({ handle: ended(exits.ok), ...configured(never, { restartToken: 1 }) })).toEqual([
        'accept restart 1',
      ]);
      const asked = ended(exits.ok, { end: 'asked', restartToken: 1 });
      expect(decide({ handle: asked, ...configured(never, { restartToken: 1 }) })).toEqual(['start']);
    });

    it('starts nothing that the master knows to have finished, whatever the policy is by now', () => {
      const finished = ended(exits.failure, { end: 'final' });
      expect(decide({ handle: finished, ...configured({ restartPolicy: 'always' }) })).toEqual([]);
      expect(decide({ handle: finished, ...configured({}, { restartToken: 1 }) })).toEqual([
        'accept restart 1',
      ]);
    });

    it('tries a start that failed again, for nothing has run', () => {
      const failed = { ...early(0), run: 1 };
      expect(decide({ handle: failed, ...configured({ restartPolicy: 'never' }) })).toEqual(['start']);
    });

    it('does not take an end that was asked for as one of its own', () => {
      const stopped = handle({ run: 1, exit: exits.ok, phase: PREPARED });
      expect(decide({ handle: stopped, ...configured({ restartPolicy: 'never' }) })).toEqual(['start']);
    });

    it('ends what an instance that is not started again left behind', () => {
      const left = ended(exits.ok, { phase: remaining() });
      expect(decide({ handle: left, ...configured({ restartPolicy: 'never' }) })).toEqual([
        'check remains of run 1',
      ]);
    });
  });

  describe('with readiness', () => {
    const readiness = { logLine: 'Done', timeoutSeconds: 20 };
    const waits = configured({ readiness });
    const check = checkFor(readiness);
    const up = (fields: Partial<Handle> = {}, upForMs = 5000) => running(fields, { since: NOW - upForMs });
    const found = (isReady: boolean, run = 1) => ({ readiness: { run, isReady, problem: null } });

    it('has it looked at once, and looks again when the time is over', () => {
      expect(decide({ handle: up(), ...waits })).toEqual(['check readiness of run 1']);
      expect(decide({ handle: up(), ...waits, check })).toEqual(['look again in 15000 ms']);
      expect(decide({ handle: up({}, 20_000), ...waits, check })).toEqual(['note that run 1 is not ready']);
    });

    it('gives a check that was mended late a first try before it counts as late', () => {
      const late = { handle: up({}, 60_000), ...waits, check };
      expect(decide({ ...late, check: { ...check, begunAt: NOW } })).toEqual(['look again in 5000 ms']);
      expect(decide({ ...late, check: { ...check, begunAt: NOW - 5000 } })).toEqual([
        'note that run 1 is not ready',
      ]);
    });

    it('goes on with the check of what is late, and ends nothing', () => {
      const late = up(found(false), NOW);
      expect(decide({ handle: late, ...waits, check })).toEqual([]);
      // A new daemon begins it anew.
      expect(decide({ handle: late, ...waits })).toEqual(['check readiness of run 1']);
    });

    it('looks no more at what is ready', () => {
      expect(decide({ handle: up(found(true)), ...waits })).toEqual([]);
      expect(decide({ handle: up(found(true)), ...waits, check })).toEqual(['end-readiness-check']);
    });

    it('looks anew at each run', () => {
      expect(decide({ handle: up({ run: 2, ...found(true) }), ...waits })).toEqual([
        'check readiness of run 2',
      ]);
      expect(decide({ handle: up({ run: 2 }), ...waits, check })).toEqual(['end-readiness-check']);
    });

    it('ends the check of what has ended, or is to end', () => {
      const checked = { ...waits, check };
      expect(decide({ ...checked, handle: handle({ run: 1, phase: remaining() }) })).toEqual([
        'end-readiness-check',
      ]);
      expect(decide({ ...checked, handle: running({}, { stopping: stopping('SIGTERM', 0) }) })).toEqual([
        'end-readiness-check',
      ]);
    });

    it('forgives failures in its time all the same', () => {
      const handle = up({ streak: 2 }, 58_000);
      const { desired } = configured({ readiness: { logLine: 'Done', timeoutSeconds: 600 } });
      expect(decide({ handle, desired, check: checkFor({ ...readiness, timeoutSeconds: 600 }) })).toEqual([
        'look again in 2000 ms',
      ]);
    });
  });

  it('forgives failures after a minute up', () => {
    expect(decide({ handle: running({ streak: 3 }, { since: NOW - 59_000 }) })).toEqual([
      'look again in 1000 ms',
    ]);
    expect(decide({ handle: running({ streak: 3 }, { since: NOW - 60_000 }) })).toEqual(['forgive']);
    expect(decide({ handle: running({ streak: 0 }, { since: NOW - 60_000 }) })).toEqual([]);
  });

  it('starts nothing while the runtime cannot be used', () => {
    expect(decide({ handle: handle({ phase: PREPARED }), runtimeProblem: 'tmux is gone' })).toEqual([]);
  });

  it('tries a new port at once, the same busy one only when its time has come', () => {
    const busy = handle({
      phase: {
        ...PREPARED,
        next: {
          problem: { reason: 'port-busy', message: 'held', busyPort: 30000 },
          delay: { until: NOW + 5000, ms: 5000 },
        },
      },
    });
    expect(decide({ handle: busy })).toEqual(['look again in 5000 ms']);
    expect(decide({ handle: busy, desired: desired({ port: 30001 }) })).toEqual(['start']);
  });

  it('reports what is new before it acts, but not what it is about to change', () => {
    expect(decide({ handle: running(), reported: undefined })).toEqual(['report ONLINE']);
    expect(decide({ handle: running(), reported: undefined, ...wanted('stop') })).toEqual([
      'report ONLINE',
      'SIGTERM to run 1',
    ]);
    const crashed = handle({ run: 1, exit: EXIT, streak: 1, phase: PREPARED });
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
  const hindered = (
    reason: 'port-busy' | 'install-failed' | 'template-missing',
    delayMs: number | null,
    busyPort: number | null = null,
  ) => {
    const problem = { reason, message: 'it is like this', busyPort };
    const next = { problem, delay: delayMs === null ? null : { until: NOW, ms: delayMs } };
    return handle({ phase: down({ next }) });
  };
  const crashed = (streak: number, restarts: number, ms: number) =>
    handle({
      exit: EXIT,
      streak,
      restarts,
      phase: down({ next: { problem: null, delay: { until: NOW, ms } } }),
    });

  it.each<[string, Partial<SupervisorFacts>]>([
    ['ONLINE - -', { handle: running() }],
    [
      'ONLINE - runs with old files',
      { handle: running({ installed: { restartToken: 0, templates: [], behind: 'runs with old files' } }) },
    ],
    ['ONLINE - -', { handle: running(), ...wanted('stop') }],
    [
      'ONLINE stopping stopping: SIGTERM sent',
      { handle: running({}, { stopping: stopping('SIGTERM', 1) }), ...wanted('stop') },
    ],
    [
      'ONLINE stopping restarting: SIGKILL sent',
      { handle: running(READY, { stopping: stopping('SIGKILL', 1) }), ...wanted('run', 1) },
    ],
    // What it is restarted for asks for no check, but its own content did.
    ['nothing', { handle: running(), ...wanted('run', 1) }],
    [
      'CREATING stopping restarting: SIGTERM sent',
      { handle: running({}, { stopping: stopping('SIGTERM', 1) }), ...wanted('run', 1) },
    ],
    [
      'OFFLINE stopping stopping: SIGTERM sent',
      {
        handle: running({ end: 'unasked' }, { stopping: stopping('SIGTERM', 1) }),
        ...UNASSIGNED,
        isNodeStopping: true,
      },
    ],
    [
      'ONLINE stopping stopping: SIGTERM sent',
      { handle: handle({ phase: remaining({ stopping: stopping('SIGTERM', 1) }) }), ...wanted('remove') },
    ],
    [
      'ONLINE stopping stopping: stop command sent',
      { handle: running({}, { stopping: stopping(null, 1) }), ...wanted('stop') },
    ],
    [
      'CREATING stopping stopping: SIGTERM sent',
      {
        ...configured({ readiness: { logLine: 'Done' } }),
        handle: running({}, { stopping: stopping('SIGTERM', 1) }),
      },
    ],
    [
      'OFFLINE stopping stopping: SIGTERM sent',
      {
        ...configured({ readiness: { logLine: 'Done' } }),
        handle: running({ end: 'unasked', exit: EXIT }, { stopping: stopping('SIGTERM', 1) }),
      },
    ],
    [
      'CREATING starting waiting for a log line with "Done", up to 60 s',
      { handle: running(), ...configured({ readiness: { logLine: 'Done' } }) },
    ],
    [
      'OFFLINE starting waiting for TCP port 30000 to accept connections, up to 9 s',
      {
        handle: running({ end: 'unasked', exit: EXIT, streak: 1 }),
        ...configured({
          readiness: { tcpPort: '%PORT%', timeoutSeconds: 9 },
          availablePorts: { min: 30000, max: 30001 },
        }),
      },
    ],
    [
      'CREATING not-ready not ready after 60 s: still waiting for GET /up on port 81 to answer with 2xx or 3xx (it answers with status 503)',
      {
        handle: running({
          readiness: { run: 1, isReady: false, problem: 'it answers with status 503' },
        }),
        ...configured({ readiness: { httpGet: { path: '/up', port: 81 } } }),
      },
    ],
    [
      'ONLINE - -',
      {
        handle: running({ end: 'unasked', readiness: { run: 1, isReady: true, problem: null } }),
        ...configured({ readiness: { logLine: 'Done' } }),
      },
    ],
    [
      'STOPPED exited exited with code 1; restartPolicy never does not start it again',
      {
        handle: handle({ exit: EXIT, end: 'unasked', streak: 1 }),
        ...configured({ restartPolicy: 'never' }),
      },
    ],
    [
      'STOPPED exited exited with code 1; restartPolicy never does not start it again',
      {
        handle: handle({ exit: EXIT, end: 'unasked', streak: 1 }),
        ...configured({ restartPolicy: 'never' }),
        isNodeStopping: true,
      },
    ],
    [
      'STOPPED stopped exited with code 1',
      {
        handle: handle({ exit: EXIT, end: 'unasked' }),
        ...configured({ restartPolicy: 'never' }, { goal: 'stop' }),
      },
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
    ['nothing', { handle: handle({ phase: PREPARED }) }],
    ['CREATING runtime-unavailable no tmux here', { runtimeProblem: 'no tmux here' }],
    [
      'OFFLINE runtime-unavailable no tmux here',
      { runtimeProblem: 'no tmux here', handle: handle({ exit: EXIT, streak: 1 }) },
    ],
    [
      'CREATING install-failed it is like this; next try in 2 s',
      { handle: hindered('install-failed', 1900) },
    ],
    ['CREATING template-missing it is like this', { handle: hindered('template-missing', null) }],
    ['OFFLINE exited exited with code 1, restart 1 at once', { handle: handle({ exit: EXIT, streak: 1 }) }],
    ['OFFLINE exited exited with code 1, restart 3 in 4 s', { handle: crashed(4, 2, 3700) }],
    ['OFFLINE exited exited with code 1, restart 2 in 0.9 s', { handle: crashed(2, 1, 880) }],
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
      revision: 'f00',
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
      handle: hindered('port-busy', 5000, 30000),
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
    expect(isGone({ phase: CLEARED })).toBe(true);
    expect(isGone({ static: true })).toBe(true);
    expect(isGone({})).toBe(false);
    expect(isGone({ static: true, phase: remaining() })).toBe(false);
    expect(isGone({ static: true, phase: starting() })).toBe(false);
    expect(isGone({ static: true, phase: running().phase })).toBe(false);
    expect(isGone({ phase: CLEARED }, 'stop')).toBe(false);
  });
});
