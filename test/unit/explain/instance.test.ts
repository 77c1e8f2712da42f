/** Why an instance is as it is: facts in, the explanation in words out. */
import { describe, expect, it } from 'vitest';
import type { InstanceFacts } from '../../../src/explain/facts.js';
import { explainInstance } from '../../../src/explain/instance.js';
import { NO_HOST_PID } from '../../../src/model/run/run-identity.js';
import {
  configurationRecord,
  contact,
  description,
  down,
  ID,
  instanceFacts,
  NOW,
  onlineRecord,
  pastExit,
  placementView,
  recordWith,
  serviceView,
} from '../../support/control-plane/explain-facts.js';
import { nodeRecord } from '../../support/control-plane/records.js';

/** The verdict after the name, then `next` and `advice` where there are some, and whether it is well. */
function tell(fields: Partial<InstanceFacts>): string[] {
  const { verdict, next, advice, isSettled } = explainInstance(instanceFacts(fields), NOW);
  const name = `${ID} (lobby) `;
  expect(verdict.startsWith(name)).toBe(true);
  return [
    `${isSettled ? 'well' : 'not well'}: ${verdict.slice(name.length)}`,
    ...(next === null ? [] : [`next: ${next}`]),
    ...(advice === null ? [] : [`do: ${advice}`]),
  ];
}

const notesOf = (fields: Partial<InstanceFacts>): string[] =>
  explainInstance(instanceFacts(fields), NOW).notes;
const seen = (answer: Parameters<typeof description>[0], isUp = true): Pick<InstanceFacts, 'answer'> => ({
  answer: { kind: 'answered', description: isUp ? description(answer) : down(answer) },
});
const isDown = (answer: Parameters<typeof description>[0]): Pick<InstanceFacts, 'answer'> =>
  seen(answer, false);
const offline = (message: string | null = null) => recordWith({ state: 'OFFLINE', pid: null, message });
const unplaced = recordWith({ state: 'CREATING', pid: null }, { placement: null });
const stopRecord = (status: Parameters<typeof recordWith>[0] = {}, fields = {}) =>
  recordWith(status, { desired: { goal: 'stop', restartToken: 0 }, ...fields });
const rests = { state: 'STOPPED', reason: 'stopped', pid: null } as const;
const AWAY = { kind: 'silent', why: 'node alpha is not connected; try again when it is back' } as const;

describe('an instance that should run', () => {
  it('is ONLINE only as far as is known while its container engine is away', () => {
    expect(tell(seen({ pid: NO_HOST_PID, runtimeProblem: 'the engine does not answer' }))).toEqual([
      'not well: is ONLINE as far as is known (up for 2 h 10 min on alpha, port 30000): the engine does not answer.',
      'next: Its node looks for the container engine every 30 s. The container may have ended meanwhile.',
      'do: Start the container engine on alpha.',
    ]);
  });

  it('keeps its port where its files may name it', () => {
    const message = 'tcp port 30000 is held by another process on this node (nginx, pid 7)';
    const [says, next, advice] = tell({
      record: recordWith({ state: 'OFFLINE', pid: null, keepsPort: true }),
      ...isDown({ problem: { reason: 'port-busy', message }, retryInMs: 5000 }),
    });
    expect(says).toBe(`not well: cannot be started: ${message}.`);
    expect(next).toMatch(/^next: A static instance keeps its port, .* The next try is in 5 s\.$/);
    expect(advice).toContain('`instance update');
  });

  it('is told in one friendly line when all is well', () => {
    expect(tell({})).toEqual(['well: is ONLINE, as it should be: up for 2 h 10 min on alpha, port 30000.']);
  });

  it('says that it shares its port, and what its program needs for that when it has never been ready', () => {
    const placement = { ...recordWith({}).placement, sharedBy: 'lobby' } as never;
    expect(tell({ record: recordWith({}, { placement }) })).toEqual([
      'well: is ONLINE, as it should be: up for 2 h 10 min on alpha, port 30000 (shared).',
    ]);
    const crash = { failuresInARow: 1, restarts: 0, retryInMs: 3600, exits: [pastExit()] };
    const record = recordWith({ state: 'CREATING', pid: null, hasBeenReady: false }, { placement });
    expect(tell({ record, ...isDown(crash) })[2]).toMatch(
      /^do: It shares port 30000: its program must set SO_REUSEPORT \(sharePort\)\. /,
    );
  });

  it('says when its failures are forgotten', () => {
    expect(tell(seen({ upForMs: 12_000, failuresInARow: 3, forgivenInMs: 48_000 }))).toEqual([
      'not well: is up for now: up for 12 s on alpha, port 30000, after 3 failures in a row.',
      'next: When it has been up for another 48 s, its failures are forgotten.',
    ]);
    expect(tell(seen({ upForMs: 12_000, failuresInARow: 1, forgivenInMs: 48_000 }))[0]).toBe(
      'well: is ONLINE: up for 12 s on alpha, port 30000, after a failure.',
    );
  });

  it('shows the backoff as the time that is left now, and how it ended', () => {
    const crash = { failuresInARow: 4, restarts: 2, retryInMs: 3600, exits: [pastExit()] };
    expect(tell({ record: offline(), ...isDown(crash) })).toEqual([
      'not well: waits 4 s for restart 3: it exited with code 1, the 4th failure in a row.',
      'next: Each failure doubles the delay, up to 60 s; 60 s of being up end that.',
      'do: Its last lines say more (`instance logs k3x9p2`). `instance restart k3x9p2` starts it at once.',
    ]);
    const advice = (code: number): string | undefined =>
      tell({ record: offline(), ...isDown({ ...crash, exits: [pastExit({ code })] }) })[2];
    expect(advice(126)).toMatch(
      /^do: Code 126 means that the shell may not run the file: make it executable/,
    );
    expect(advice(127)).toMatch(/^do: Code 127 .* line ends of Windows \(CRLF\)/);
    const killed = [pastExit({ code: null, signal: 'SIGSEGV' })];
    expect(tell({ record: offline(), ...isDown({ ...crash, failuresInARow: 12, exits: killed }) })[0]).toBe(
      'not well: waits 4 s for restart 3: it was ended by SIGSEGV, the 12th failure in a row.',
    );
    expect(tell({ record: offline(), ...isDown({ ...crash, failuresInARow: 1, retryInMs: null }) })).toEqual([
      'not well: is about to be started again (restart 3): it exited with code 1.',
    ]);
  });

  it.each<[string, Partial<InstanceFacts>, string[]]>([
    [
      'its start is under way',
      { record: offline(), ...isDown({ isStarting: true, run: 4 }) },
      ['not well: is being started (run 4).'],
    ],
    [
      'its directory is made',
      { record: offline(), ...isDown({ isPrepared: false }) },
      ['not well: is being installed: its working directory is made.'],
    ],
    ['it is ready', { record: offline(), ...isDown({}) }, ['not well: is about to be started.']],
    [
      'it is up and not ready',
      {
        record: recordWith({ state: 'CREATING' }),
        ...seen({ upForMs: 12_000, readiness: { reason: 'starting', message: 'waiting for X, up to 60 s' } }),
      },
      [
        'not well: is up for 12 s (pid 42) and CREATING: waiting for X, up to 60 s.',
        'next: It is ONLINE as soon as that holds; it is not ended for being late.',
      ],
    ],
    [
      'it is not ready in time',
      {
        record: recordWith({ state: 'OFFLINE' }),
        ...seen({ upForMs: 90_000, readiness: { reason: 'not-ready', message: 'not ready after 60 s: X' } }),
      },
      [
        'not well: is up for 90 s (pid 42) and OFFLINE: not ready after 60 s: X.',
        'next: It is ONLINE as soon as that holds; it is not ended for being late.',
        `do: Its last lines say more (\`instance logs ${ID}\`); or readiness of lobby asks for the wrong thing. \`instance restart ${ID}\` starts it anew.`,
      ],
    ],
    [
      'it says of itself that it is ONLINE',
      { ...seen({ upForMs: 12_000, readiness: { reason: 'starting', message: 'waiting for X' } }) },
      ['well: is ONLINE, as it should be: up for 12 s on alpha, port 30000.'],
    ],
    [
      'its restart policy does not start it again',
      {
        record: recordWith({ state: 'STOPPED', reason: 'exited', pid: null }),
        ...isDown({ isFinished: true, exits: [pastExit({ code: 0 })] }),
      },
      [
        'well: has ended, and restartPolicy does not start it again: its process exited with code 0.',
        'next: It stays so and keeps its slot: nothing is created in its place.',
        `do: \`instance start ${ID}\` starts it anew, \`instance delete ${ID}\` removes it.`,
      ],
    ],
    [
      'its run failed',
      {
        record: recordWith({ state: 'STOPPED', reason: 'exited', pid: null, exitCode: 3 }),
        ...isDown({ isFinished: true, exits: [pastExit({ code: 3 })] }),
      },
      [
        'not well: has failed, and restartPolicy does not start it again: its process exited with code 3.',
        'next: It stays so and keeps its slot: nothing is created in its place.',
        `do: \`instance start ${ID}\` starts it anew, \`instance delete ${ID}\` removes it.`,
      ],
    ],
    [
      'its restart policy did not start it again, and its node is away',
      { record: recordWith({ state: 'STOPPED', reason: 'exited', pid: null }), answer: AWAY },
      [
        'well: has ended, and restartPolicy does not start it again.',
        'next: It stays so and keeps its slot: nothing is created in its place.',
        `do: \`instance start ${ID}\` starts it anew, \`instance delete ${ID}\` removes it.`,
      ],
    ],
    [
      'its end has yet to be reported',
      { ...isDown({ isFinished: true }) },
      ['not well: has ended, and its node is about to report that.'],
    ],
    [
      'its next start is put off for no reason that is left',
      { record: offline(), ...isDown({ retryInMs: 2000, exits: [pastExit({ wasAsked: true })] }) },
      ['not well: waits 2 s before it is started.'],
    ],
    [
      'it left a daemon behind',
      {
        record: offline(),
        ...isDown({
          hasRemains: true,
          left: ['redis-server'],
          stop: { signal: 'SIGTERM', sentAgoMs: 2000, killInMs: 8000 },
          exits: [pastExit({ code: 0, signal: null, cause: 'its main process left a daemon' })],
        }),
      },
      [
        'not well: waits for 1 process that it left (redis-server): it ended (its main process left a daemon).',
        'next: SIGTERM was sent 2 s ago; they get SIGKILL in 8 s. Then it is started again.',
      ],
    ],
    [
      'processes of its last run may live',
      { record: offline(), ...isDown({ hasRemains: true }) },
      [
        'not well: has ended, but processes that it left behind may still live.',
        'next: They get the stop signal in a moment. Then it is started again.',
      ],
    ],
    [
      'a restart was asked for',
      seen({ goal: 'restart', stop: { signal: 'SIGTERM', sentAgoMs: 3000, killInMs: 7000 } }),
      [
        'not well: is being restarted: SIGTERM was sent 3 s ago.',
        'next: SIGKILL follows in 7 s. Then it is started again.',
      ],
    ],
    [
      'the runtime is not there',
      {
        record: offline(),
        ...isDown({ runtimeProblem: 'runtime tmux is not available on this node: tmux is not installed' }),
      },
      [
        'not well: cannot be started: runtime tmux is not available on this node: tmux is not installed.',
        'next: Its node looks for the runtime every 30 s and starts it then.',
        'do: Install what the runtime process needs on alpha.',
      ],
    ],
    [
      'a template is missing',
      {
        record: offline(),
        ...isDown({ problem: { reason: 'template-missing', message: 'template a/b cannot be used' } }),
      },
      [
        'not well: waits for its templates: template a/b cannot be used.',
        'next: It starts as soon as they are there.',
        'do: Put them there (`template list` shows those that are), or change templateInstallationConfig of lobby and delete the instance.',
      ],
    ],
    [
      'its install failed',
      {
        record: offline(),
        ...isDown({ retryInMs: 8000, problem: { reason: 'install-failed', message: 'the disk is full' } }),
      },
      [
        'not well: could not be installed: the disk is full.',
        'next: The next try is in 8 s.',
        'do: Mend the cause; `instance restart k3x9p2` tries at once.',
      ],
    ],
    [
      'its start failed',
      {
        record: offline(),
        ...isDown({ problem: { reason: 'start-failed', message: 'out of processes' } }),
      },
      [
        'not well: could not be started: out of processes.',
        'next: It is tried again now.',
        'do: Mend the cause; `instance restart k3x9p2` tries at once.',
      ],
    ],
    [
      'its node is being stopped',
      { record: offline(), ...isDown({ goal: 'pause' }) },
      ['not well: was stopped together with its node.', 'next: It starts again with the node.'],
    ],
    [
      'its node has not begun with it',
      { record: offline(), answer: { kind: 'answered', description: undefined } },
      ['not well: is new to its node alpha, which is about to begin with it.'],
    ],
    [
      'its node waits for the master',
      { record: offline(), ...isDown({ goal: 'wait' }) },
      ['not well: is left as it is: its node waits for word of the master about it.'],
    ],
    [
      'its node still believes in a stop',
      { record: offline(), ...isDown({ goal: 'stop' }) },
      ['not well: is to be started, which its node hears of now.'],
    ],
    [
      'it runs and the record does not show it yet',
      { record: offline() },
      ['not well: runs (pid 42, up for 2 h 10 min), which its node is about to report.'],
    ],
    [
      'a tool reported it as OFFLINE',
      { record: recordWith({ state: 'OFFLINE', reason: 'reported' }) },
      [
        'not well: runs (pid 42, up for 2 h 10 min), but was reported OFFLINE by the instance itself or a tool.',
        'next: That stands until the next report, or until its process ends.',
      ],
    ],
  ])('is told when %s', (_what, fields, expected) => {
    expect(tell(fields)).toEqual(expected);
  });

  it('says whether there is another port to go to', () => {
    const message = 'tcp port 30000 is held by another process on this node';
    const held = isDown({ retryInMs: 4000, problem: { reason: 'port-busy', message } });
    const record = recordWith({ state: 'CREATING', reason: 'port-busy', pid: null });
    const node = { nodeId: 'alpha', failed: null, message: '' };
    const ports = { min: 30000, max: 30001 };
    const look = "do: `ss -tulpn 'sport = :30000'` on alpha shows what holds the port.";
    const other = placementView({ task: 'move', nodes: [{ ...node, fits: true }], ports });
    expect(tell({ record, ...held, placement: other })).toEqual([
      `not well: cannot be started: ${message}.`,
      'next: It is given another port now.',
      look,
    ]);
    const none = placementView({ task: 'move', nodes: [{ ...node, fits: false }], ports });
    expect(tell({ record, ...held, placement: none })).toEqual([
      `not well: cannot be started: ${message}.`,
      'next: No other port of 30000-30001 is free. The next try is in 4 s.',
      `${look} End it, or widen availablePorts of lobby and delete the instance.`,
    ]);
  });
});

describe('an instance without a node', () => {
  const place = (fields: Parameters<typeof placementView>[0]): Partial<InstanceFacts> => ({
    record: unplaced,
    answer: { kind: 'none' },
    node: undefined,
    contact: undefined,
    placement: placementView(fields),
  });
  const node = (nodeId: string, failed: string | null) => ({
    nodeId,
    fits: failed === null,
    failed,
    message: 'as it is',
  });

  it('is told what the nodes say, together and each', () => {
    const nodes = [node('alpha', 'runtime'), node('beta', 'ram')];
    const facts = place({
      nodes,
      summary: '1 does not offer runtime tmux, 1 short of RAM (need 9 MB, free 5 MB)',
    });
    expect(tell(facts)).toEqual([
      'not well: fits on none of 2 nodes: 1 does not offer runtime tmux, 1 short of RAM (need 9 MB, free 5 MB).',
      'next: It gets a node as soon as one fits.',
      'do: Stop something, raise maxRamMB of a node (config.json), or lower ramMB of lobby and delete the instance.',
    ]);
    expect(explainInstance(instanceFacts(facts), NOW)).toMatchObject({ nodes, nodesTotal: 2, node: null });
  });

  it.each<[string, string]>([
    ['port', 'Free a port, or widen availablePorts of lobby (30000-30009) and delete the instance.'],
    [
      'cpu',
      'Stop something, raise maxCpu or cpuOvercommit of a node (config.json), or lower cpu of lobby and delete the instance.',
    ],
    [
      'runtime',
      'Install what the runtime needs on a node, or set another runtime in lobby and delete the instance.',
    ],
    ['cordoned', 'Lift the cordon of alpha (`cluster uncordon <node>`), or add a node.'],
    ['not-connected', 'Bring alpha back.'],
    ['not-home', 'Bring back the node that has its files.'],
    ['not-allowed', 'Add a node of the cluster to `nodes` of lobby and delete the instance.'],
  ])('is advised about the condition %s', (failed, advice) => {
    const facts = place({
      nodes: [node('alpha', failed)],
      summary: '1 so',
      ports: { min: 30000, max: 30009 },
    });
    expect(tell(facts)).toEqual([
      'not well: does not fit on alpha, the only node: so.',
      'next: It gets a node as soon as one fits.',
      `do: ${advice}`,
    ]);
  });

  it('is not told to stop something where that would not help', () => {
    const facts = place({ nodes: [node('alpha', 'ram')], summary: '1 so', isTooLarge: true });
    expect(tell(facts)[2]).toBe(
      'do: Lower ramMB of lobby and delete the instance: no node has that much in all. Where the machine has more, raise maxRamMB (config.json).',
    );
  });

  it('is told when ports of other programs are tried again', () => {
    const foreign = {
      port: 30000,
      nodeId: 'alpha',
      instanceId: null,
      configurationName: null,
      instanceNodeId: null,
      protocol: 'udp',
      foundAgoMs: 9,
    };
    const facts = place({
      nodes: [node('alpha', 'port')],
      summary: 'so',
      ports: { min: 30000, max: 30000 },
      portHolders: [foreign],
    });
    expect(tell(facts)[1]).toBe(
      'next: It gets a node as soon as one fits. Ports of other programs are tried again within a minute.',
    );
    expect(explainInstance(instanceFacts(facts), NOW)).toMatchObject({
      portRange: { min: 30000, max: 30000 },
      portHolders: [foreign],
    });
  });

  it('is told when no node is there, when its templates are not, and when it is about to get a node', () => {
    expect(tell(place({}))[0]).toBe('not well: has no node: none has joined the cluster yet.');
    expect(tell(place({ templateProblems: ['no template a/b', 'group c is empty'] }))[0]).toBe(
      'not well: cannot be placed: no template a/b; group c is empty.',
    );
    expect(tell(place({ nodes: [node('alpha', null)] }))).toEqual(['not well: is about to be given a node.']);
    expect(tell({ ...place({}), placement: undefined })).toEqual(['not well: is about to be given a node.']);
  });

  it('lists a hundred nodes, and says how many there are', () => {
    const nodes = Array.from({ length: 130 }, (_, n) => node(`node-${n}`, 'ram'));
    const { nodes: listed, nodesTotal } = explainInstance(instanceFacts(place({ nodes })), NOW);
    expect([listed.length, nodesTotal]).toEqual([100, 130]);
  });
});

describe('an instance on a node that is away', () => {
  const lost = {
    node: nodeRecord('alpha', { condition: 'lost', conditionSince: NOW - 125_000 }),
    answer: AWAY,
  };
  const record = recordWith({ state: 'OFFLINE', reason: 'node-lost' });
  const gone = contact({ isConnected: false, silentMs: 131_000, lostInMs: null });
  const back = 'do: Start Drover on alpha again, or mend its connection.';
  const noOthers = serviceView({ counted: new Set() });

  it.each<[string, Partial<InstanceFacts>, string]>([
    ['replaces it now', { service: { ...noOthers, creating: 1 } }, 'It is about to be replaced.'],
    ['replaces it later', { service: { ...noOthers, nextCreationInMs: 8000 } }, 'It is replaced in 8 s.'],
    [
      'has replaced it',
      { service: serviceView({ counted: new Set(['aaaaaa']) }) },
      'Others of lobby that count: 1, asked for: 1.',
    ],
    [
      'leaves a static one',
      { record: { ...record, static: true } },
      'A static instance waits for its node, which has its files.',
    ],
    [
      'has nothing to go by',
      { service: undefined, configuration: undefined },
      'Nothing replaces it: its configuration was removed.',
    ],
  ])('is told since when it is lost, and that minimum-service %s', (_what, fields, says) => {
    expect(tell({ ...lost, record, contact: gone, ...fields })).toEqual([
      'not well: cannot be reached: its node alpha has been lost for 2 min.',
      `next: ${says} When the node is back, it goes on there.`,
      back,
    ]);
  });

  it('is told how long a node that said it will be back has left', () => {
    const node = nodeRecord('alpha', { condition: 'returning' });
    const left = contact({ isConnected: false, silentMs: 12_000, goneForMs: 12_000, lostInMs: 48_000 });
    expect(tell({ node, contact: left, answer: AWAY })).toEqual([
      'not well: cannot be reached: its node alpha was stopped 12 s ago and said that it will be back.',
      'next: Unless the node is back within 48 s, it counts as lost. Then it is replaced.',
    ]);
    const enough = serviceView({ counted: new Set([ID, 'aaaaaa']) });
    expect(tell({ node, contact: left, answer: AWAY, service: enough })[1]).toMatch(
      /Then nothing replaces it: enough others stand\.$/,
    );
  });

  it('is told of a silence before the node counts as lost', () => {
    const silent = contact({ isConnected: false, silentMs: 4000, lostInMs: 2000 });
    expect(tell({ contact: silent, answer: AWAY })).toEqual([
      'not well: cannot be reached: its node alpha has not been heard of for 4 s.',
      'next: Unless the node is back within 2 s, it counts as lost. Then it is replaced.',
      back,
    ]);
  });

  it('says what the master knows of one that should stop, and calls a stopped one well', () => {
    expect(tell({ ...lost, record: stopRecord(), contact: gone })).toEqual([
      'not well: should stop, but its node alpha has been lost for 2 min.',
      'next: It is stopped when the node is back.',
      back,
    ]);
    expect(tell({ ...lost, record: stopRecord(rests), contact: gone })[0]).toBe(
      'well: is stopped, as it should be.',
    );
    expect(notesOf({ ...lost, record, contact: gone })).toEqual([
      'Node alpha is away: this is what the master knew last.',
    ]);
  });

  it('falls back to the last report of a node that is there and does not answer', () => {
    const answer = { kind: 'silent', why: 'it did not answer within 2 s' } as const;
    expect(tell({ answer, record: offline('exited with code 1, restart 3 in 4 s') })).toEqual([
      'not well: is OFFLINE by its last report: exited with code 1, restart 3 in 4 s.',
    ]);
    expect(tell({ answer })).toEqual(['well: is ONLINE by its last report.']);
    expect(notesOf({ answer })).toEqual([
      'Node alpha could not be asked (it did not answer within 2 s): this is what the master knows.',
    ]);
  });
});

describe('an instance that should stop', () => {
  const start = 'do: `instance start k3x9p2` starts it, `instance delete k3x9p2` removes it.';

  it('is well when it is stopped, and says how it ended', () => {
    const answer = isDown({ goal: 'stop', exits: [pastExit({ code: 0, wasAsked: true })] });
    const service = serviceView({ counted: new Set() });
    expect(tell({ record: stopRecord(rests), service, ...answer })).toEqual([
      'well: is stopped, as it should be: its process exited with code 0.',
      'next: It stays so until it is started.',
      start,
    ]);
    const never = stopRecord(rests, { placement: null });
    expect(tell({ record: never, answer: { kind: 'none' }, service })[0]).toBe(
      'well: is stopped, as it should be.',
    );
  });

  it('says that a static one keeps its slot', () => {
    expect(tell({ record: stopRecord(rests, { static: true }), ...isDown({ goal: 'stop' }) })[1]).toBe(
      'next: It stays so and keeps its slot: nothing is created in its place.',
    );
  });

  it.each<[string, Partial<InstanceFacts>, string[]]>([
    [
      'SIGTERM was sent',
      seen({ goal: 'stop', stop: { signal: 'SIGTERM', sentAgoMs: 3000, killInMs: 7000 } }),
      ['not well: is being stopped: SIGTERM was sent 3 s ago.', 'next: SIGKILL follows in 7 s.'],
    ],
    [
      'it was told by its own command',
      seen({
        goal: 'stop',
        stop: {
          signal: 'the stop command',
          sentAgoMs: 4000,
          next: { signal: 'SIGINT', inMs: 11_000 },
          killInMs: 26_000,
        },
      }),
      [
        'not well: is being stopped: the stop command was sent 4 s ago.',
        'next: SIGINT follows in 11 s, SIGKILL in 26 s.',
      ],
    ],
    [
      'its runtime does not answer',
      seen({
        goal: 'stop',
        stop: {
          signal: 'nothing',
          sentAgoMs: 0,
          next: { signal: 'SIGTERM', inMs: 500 },
          killInMs: 10_000,
          problem: 'the container engine does not answer',
        },
      }),
      [
        'not well: is being stopped: the container engine does not answer: SIGTERM waits for it.',
        'next: It is sent as soon as that is mended.',
      ],
    ],
    [
      'it outlives SIGKILL',
      seen({ goal: 'stop', stop: { signal: 'SIGKILL', sentAgoMs: 400, killInMs: null } }),
      [
        'not well: is being stopped: SIGKILL was sent 0.4 s ago.',
        'next: SIGKILL is sent again every second.',
        'do: What outlives SIGKILL hangs in the kernel, on a disk or network mount: `ps -o stat,wchan -p 42` shows where.',
      ],
    ],
    [
      'what it left behind is waited for',
      isDown({ goal: 'stop', hasRemains: true, stop: { signal: 'SIGTERM', sentAgoMs: 400, killInMs: 9000 } }),
      [
        'not well: has ended, but processes that it left behind may still live.',
        'next: SIGTERM was sent 0.4 s ago; they get SIGKILL in 9 s.',
      ],
    ],
    ['its node hears of it', seen({}), ['not well: is to be stopped, which its node hears of now.']],
    ['the ladder begins', seen({ goal: 'stop' }), ['not well: is about to be told to end.']],
    [
      'its node has yet to say so',
      isDown({ goal: 'stop' }),
      ['not well: has stopped, and its node is about to report that.'],
    ],
  ])('is told when %s', (_what, fields, expected) => {
    expect(tell({ record: stopRecord(), ...fields })).toEqual(expected);
  });
});

describe('the notes', () => {
  it('tell of an older revision, a broken file, and a configuration that is gone', () => {
    expect(notesOf({ configuration: configurationRecord({ hash: 'new' }) })).toEqual([
      'It was made from an older content of lobby; later changes do not reach it (`config diff lobby`). `instance update k3x9p2` gives it what is in force, in place.',
    ]);
    const error = { file: 'lobby.json', line: 7, column: 3, field: 'ramMB', message: 'ramMB: must be less' };
    expect(notesOf({ fileErrors: [error] })).toEqual([
      'lobby.json is broken at line 7: ramMB: must be less. What it said before stays in force.',
    ]);
    expect(notesOf({ configuration: undefined })).toEqual([
      'Its configuration lobby was removed: nothing replaces this instance.',
    ]);
    expect(notesOf({})).toEqual([]);
  });

  it('tell of what runs with the files of its last install', () => {
    const message = 'runs with the files of its last install: template games/lobby changed';
    const { record } = instanceFacts();
    const behind = {
      ...record,
      status: { ...record.status, state: 'ONLINE', reason: null, message },
    } as const;
    expect(notesOf({ record: behind })).toEqual([`It ${message}.`]);
  });
});

describe('the numbers', () => {
  it('are those of the node where it answered, and plain text', () => {
    const exits = [
      pastExit({ lastLines: ['\u001b[31mred\u001b[0m', `${'x'.repeat(600)}`] }),
      pastExit({ run: 0, lastLines: [], output: 'gone' }),
    ];
    const answer = isDown({ restarts: 7, failuresInARow: 2, retryInMs: 1500.4, exits });
    expect(explainInstance(instanceFacts({ record: offline('old news'), ...answer }), NOW)).toMatchObject({
      desired: 'run',
      actual: 'OFFLINE',
      message: 'old news',
      processPid: null,
      restarts: 7,
      failuresInARow: 2,
      retryInMs: 1500,
      isRevisionCurrent: true,
      nodeCondition: 'connected',
      nodeAnswer: null,
      exits: [
        { lastLines: ['red', `${'x'.repeat(499)}…`], linesNote: null },
        { lastLines: [], linesNote: 'its lines are no longer kept' },
      ],
    });
    expect(explainInstance(instanceFacts({ answer: AWAY, record: onlineRecord() }), NOW)).toMatchObject({
      processPid: 42,
      nodeAnswer: AWAY.why,
    });
  });
});
