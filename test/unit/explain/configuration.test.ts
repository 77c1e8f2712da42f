/** Why a configuration is as it is: facts in, the explanation in words out. */
import { describe, expect, it } from 'vitest';
import { explainConfiguration } from '../../../src/explain/configuration.js';
import type { ConfigurationFacts, InstanceFacts } from '../../../src/explain/facts.js';
import { faultsOf } from '../../../src/explain/files.js';
import {
  configurationFacts,
  configurationRecord,
  down,
  instanceFacts,
  NOW,
  pastExit,
  recordWith,
  serviceView,
} from '../../support/control-plane/explain-facts.js';
import { configurationOf, rolloutRecord } from '../../support/control-plane/records.js';

function tell(fields: Partial<ConfigurationFacts>): string[] {
  const { verdict, next, advice, notes, isSettled } = explainConfiguration(configurationFacts(fields), NOW);
  return [
    `${isSettled ? 'well' : 'not well'}: ${verdict}`,
    ...(next === null ? [] : [`next: ${next}`]),
    ...(advice === null ? [] : [`do: ${advice}`]),
    ...notes.map((note) => `note: ${note}`),
  ];
}

const crashing = (id: string) =>
  instanceFacts({
    record: recordWith({ state: 'OFFLINE', pid: null }, { id }),
    answer: {
      kind: 'answered',
      description: down({ failuresInARow: 2, restarts: 1, retryInMs: 900, exits: [pastExit()] }),
    },
  });
const END = {
  ...{ instance: 'aaaaaa', configuration: 'lobby', node: 'alpha', revision: 'f00', players: null, lines: [] },
  ...{ run: 1, at: NOW - 5000, code: 0, signal: null },
};
const FAULT = {
  file: 'lobby.json',
  name: 'lobby',
  line: 7,
  column: 3,
  field: 'ramMB',
  message: 'ramMB: must be a whole number from 1 to 16777216, is "much"',
};

describe('a configuration', () => {
  it('is told in one friendly line when all is well', () => {
    expect(tell({})).toEqual(['well: lobby is as it should be: 1 instance ONLINE, 1 asked for.']);
  });

  it('that is a job tells of its newest run, and calls no run unasked', () => {
    const job = { parameters: {} };
    const configuration = { ...configurationOf('lobby'), minimumServiceCount: 0, job };
    const ended = (id: string, createdAt: number, exitCode: number) =>
      instanceFacts({
        record: recordWith(
          { state: 'STOPPED', reason: 'exited', pid: null, exitCode },
          { id, createdAt, job },
        ),
        answer: {
          kind: 'answered',
          description: down({ isFinished: true, exits: [pastExit({ code: exitCode })] }),
        },
      });
    const told = (instances: InstanceFacts[]) =>
      tell({
        record: configurationRecord({ configuration }),
        service: serviceView({ minimum: 0, counted: new Set() }),
        instances,
        instancesTotal: 2,
        wanted: 0,
        online: 0,
        lastExits: [END],
      });
    const note = expect.stringMatching(/^note: \w+ exited with code 0 [^,]* ago$/);
    expect(told([ended('aaaaaa', 1, 3), ended('bbbbbb', 2, 0)])).toEqual([
      'well: lobby is a job, and no run is under way.',
      'do: `drover run lobby` starts one.',
      note,
    ]);
    expect(told([ended('aaaaaa', 1, 0), ended('bbbbbb', 2, 3)])).toEqual([
      'not well: lobby is a job, and no run is under way: bbbbbb has failed, and restartPolicy does not start it again: its process exited with code 3.',
      expect.stringMatching(/^next: /),
      expect.stringMatching(/^do: /),
      note,
    ]);
  });

  it('is well without instances when none are asked for', () => {
    const service = serviceView({ minimum: 0, counted: new Set() });
    expect(tell({ service, instances: [], instancesTotal: 0, wanted: 0, online: 0 })).toEqual([
      'well: lobby has no instances, as it should be: minimumServiceCount is 0.',
      'do: `instance create lobby` makes one.',
    ]);
  });

  it('is well with instances that their restart policy does not start again, and says so', () => {
    const record = recordWith({ state: 'STOPPED', reason: 'exited', pid: null });
    const answer = { kind: 'answered', description: down({ isFinished: true }) } as const;
    expect(tell({ instances: [instanceFacts({ record, answer })], wanted: 0, online: 0 })).toEqual([
      'well: lobby is as it should be: 0 instances ONLINE, 1 asked for.',
      'note: 1 instance has ended, and restartPolicy does not start it again: it counts all the same.',
    ]);
  });

  it('is not well with a server that made itself a daemon and is not started again', () => {
    const record = recordWith({ state: 'STOPPED', reason: 'exited', pid: null, keepsFailing: true });
    const exits = [pastExit({ code: 0, cause: 'its main process left 1 process (redis-server)' })];
    const answer = { kind: 'answered', description: down({ isFinished: true, exits }) } as const;
    const silent = { kind: 'silent', why: 'it is away' } as const;
    for (const facts of [
      { record, answer },
      { record, answer: silent },
    ])
      expect(tell({ instances: [instanceFacts(facts)], wanted: 1, online: 0 })[0]).toMatch(
        /^not well: lobby has 0 of 1 instance ONLINE: k3x9p2 has ended, and restartPolicy does not start it again/,
      );
  });

  it('tells of the first instance that is not well, and counts the others', () => {
    const instances = [crashing('aaaaaa'), crashing('bbbbbb'), instanceFacts()];
    const service = serviceView({ minimum: 3, counted: new Set(['aaaaaa', 'bbbbbb', 'k3x9p2']) });
    expect(tell({ instances, instancesTotal: 3, wanted: 3, online: 1, service })).toEqual([
      'not well: lobby has 1 of 3 instances ONLINE: aaaaaa waits 0.9 s for restart 2: it exited with code 1, ' +
        'the 2nd failure in a row, and 1 other is not well either.',
      'next: Each failure doubles the delay, up to 60 s; 60 s of being up end that.',
      'do: Its last lines say more (`instance logs aaaaaa`). `instance restart aaaaaa` starts it at once. ' +
        '`instance why aaaaaa` says more.',
    ]);
  });

  it('tells how long minimum-service waits while new instances do not stay', () => {
    const service = serviceView({ minimum: 3, nextCreationInMs: 8000, failedPasses: 3 });
    expect(tell({ service })).toEqual([
      'not well: lobby has 1 of 3 instances: the instances that were created last did not stay.',
      'next: More are created in 8 s; the wait doubles each time, up to 60 s.',
      'do: See why they stopped by themselves or were lost: instances that stay for a minute end the wait.',
    ]);
    expect(tell({ service: serviceView({ minimum: 3, creating: 2 }) })).toEqual([
      'not well: lobby has 1 of 3 instances; 2 more are about to be created.',
    ]);
  });

  it('tells what a maximum does', () => {
    const counted = new Set(['a', 'b', 'c']);
    expect(tell({ service: serviceView({ maximum: 1, stopping: 2, counted }) })).toEqual([
      'not well: lobby has 3 instances, and maximumServiceCount allows 1.',
      'next: 2 of them go now: first those without players, the youngest first. Static ones are stopped, others removed.',
    ]);
  });

  it('notes replacements that stay beside their originals, which are there again', () => {
    const used = { players: 2 };
    const instances = [
      instanceFacts({ record: recordWith(used) }),
      instanceFacts({ record: recordWith(used, { id: 'new1aa', replaces: 'k3x9p2' }) }),
      instanceFacts({ record: recordWith(used, { id: 'new2aa', replaces: 'gone1a' }) }),
    ];
    expect(tell({ instances, instancesTotal: 3, wanted: 3, online: 3 })).toContain(
      'note: 1 instance replaced one that is there again: both of a pair stay while both have players.',
    );
  });

  it('tells of instances that outlived their configuration', () => {
    expect(tell({ record: undefined, service: undefined, instancesTotal: 2 })).toEqual([
      'not well: lobby was removed: 2 instances of it are left.',
      'do: Delete what you do not want (`instance delete <id>`), or put a file for lobby back.',
    ]);
  });

  it('tells which of them end by themselves', () => {
    const removed = { record: undefined, service: undefined, instancesTotal: 3 };
    expect(tell({ ...removed, leaving: { going: 1, waiting: 2 } })).toEqual([
      'not well: lobby was removed: 3 instances of it are left.',
      'next: 1 instance ends now, 2 instances end when no players are left, because onDelete is "stop".',
      'do: To keep them, put a file for lobby back.',
    ]);
    expect(tell({ ...removed, leaving: { going: 0, waiting: 1 } })).toEqual([
      'not well: lobby was removed: 3 instances of it are left.',
      'next: 1 instance ends when no players are left, because onDelete is "stop".',
      'do: Delete what you do not want (`instance delete <id>`), or put a file for lobby back.',
    ]);
  });

  it('notes stopped static instances that keep their slot, and instances of an older content', () => {
    const resting = instanceFacts({
      record: recordWith(
        { state: 'STOPPED', reason: 'stopped', pid: null },
        { static: true, desired: { goal: 'stop', restartToken: 0 } },
      ),
      answer: { kind: 'answered', description: down({ goal: 'stop' }) },
    });
    const record = configurationRecord({ hash: 'new' });
    expect(tell({ record, instances: [resting], wanted: 0, online: 0 })).toEqual([
      'well: lobby is as it should be: 0 instances ONLINE, 1 asked for, 1 was stopped on request.',
      'note: 1 static instance was stopped on request and counts all the same.',
      'note: 1 instance is made from an older content (`config diff lobby`) and keeps it: `instance update <id>` gives an instance what is in force, in place.',
    ]);
  });
});

describe('a rollout', () => {
  const counts = { total: 3, updated: 1, good: 1, outdated: 2, waiting: 2 };
  const rollout = rolloutRecord({ to: 'f00', counts });

  it('is part of the sentence while it goes on, with what it waits for', () => {
    const older = instanceFacts({ record: recordWith({}, { revision: 'old' }) });
    expect(tell({ rollout, instances: [older] })).toEqual([
      'not well: lobby has 1 instance ONLINE, 1 asked for; its rollout is under way: 1 of 3 instances good, 2 to be replaced, 2 of these wait for their players to leave.',
      'next: It goes on as soon as players leave.',
    ]);
  });

  it('that failed says which content new instances are made from, and what to do', () => {
    const failed = { reason: 'no-progress', message: 'no instance became good within 600 s' } as const;
    expect(tell({ rollout: { ...rollout, ...failed, state: 'failed', endedAt: 5 } })).toEqual([
      'not well: lobby has 1 instance ONLINE, 1 asked for; its rollout failed: no instance became good within 600 s. New instances are made from the content before.',
      'do: Mend the file, or try the same content again: `rollout retry lobby`.',
    ]);
  });

  it('that is complete is not mentioned', () => {
    const [verdict] = tell({ rollout: { ...rollout, state: 'complete', endedAt: 5 } });
    expect(verdict).toBe('well: lobby is as it should be: 1 instance ONLINE, 1 asked for.');
  });
});

describe('a broken file', () => {
  it('leaves in force what it said before, and says where the fault is', () => {
    expect(tell({ fileErrors: [FAULT] })).toEqual([
      'not well: lobby is as it should be: 1 instance ONLINE, 1 asked for, but lobby.json is broken.',
      'do: Mend line 7 of lobby.json (ramMB) and save it.',
      `note: lobby.json is broken at line 7: ${FAULT.message}. What it said before stays in force.`,
    ]);
    const { files, isInForce } = explainConfiguration(configurationFacts({ fileErrors: [FAULT] }), NOW);
    expect({ files, isInForce }).toEqual({
      isInForce: true,
      files: [
        {
          name: 'lobby.json',
          isInForce: false,
          error: FAULT.message,
          line: 7,
          column: 3,
          field: 'ramMB',
          git: null,
        },
      ],
    });
  });

  it('is all that is known of a name that nothing else declares', () => {
    const nothing = { record: undefined, service: undefined, placement: undefined };
    const empty = { instances: [], instancesTotal: 0, wanted: 0, online: 0 };
    expect(tell({ ...nothing, ...empty, fileErrors: [FAULT] })).toEqual([
      `not well: lobby is not in force: lobby.json at line 7 is broken: ${FAULT.message}.`,
      'next: It comes into force as soon as the file is right.',
      'do: Mend line 7 of lobby.json (ramMB) and save it.',
    ]);
  });

  it('concerns the configuration that the file is from, or names, or is called after', () => {
    const whole = { line: null, column: null, field: null, message: 'bad' };
    const errors = [
      { file: 'a.json', ...whole },
      { file: 'b.json', name: 'a', ...whole },
      { file: 'a.b.json', name: 'c', ...whole },
      { file: 'source.json', ...whole },
      { file: 'configurations', ...whole },
      { file: '*.json', ...whole },
      { file: 'templates/games/a', ...whole },
      { file: 'templates/games/a.json', ...whole },
    ];
    const files = (name: string, record = configurationRecord({ sourceFile: 'source.json' })) =>
      faultsOf(name, record, errors).map(({ file }) => file);
    expect(files('a')).toEqual(['a.json', 'b.json', 'source.json', 'configurations', '*.json']);
    expect(files('c')).toEqual(['a.b.json', 'source.json', 'configurations', '*.json']);
  });
});
