/** Explanations as an operator reads them: whole texts. */
import { describe, expect, it } from 'vitest';
import { explainConfiguration } from '../../../src/explain/configuration.js';
import type { ConfigurationFacts, InstanceFacts } from '../../../src/explain/facts.js';
import { explainInstance } from '../../../src/explain/instance.js';
import { renderConfigurationExplanation, renderInstanceExplanation } from '../../../src/command-tree/explanation-text.js';
import {
  configurationFacts,
  configurationRecord,
  down,
  instanceFacts,
  NOW,
  pastExit,
  placementView,
  recordWith,
  serviceView,
} from '../../support/control-plane/explain-facts.js';

const instanceText = (fields: Partial<InstanceFacts> = {}): string[] =>
  renderInstanceExplanation(explainInstance(instanceFacts(fields), NOW)).split('\n');
const configurationText = (fields: Partial<ConfigurationFacts> = {}): string[] =>
  renderConfigurationExplanation(explainConfiguration(configurationFacts(fields), NOW)).split('\n');

const holder = { configurationName: 'lobby', instanceNodeId: 'alpha', protocol: null, foundAgoMs: null };
const foreign = { instanceId: null, configurationName: null, instanceNodeId: null };
const FULL = placementView({
  nodes: [
    { nodeId: 'alpha', fits: false, failed: 'port', message: 'has no free port in 30000-30003' },
    {
      nodeId: 'eu-west-1b',
      fits: false,
      failed: 'runtime',
      message:
        'does not offer runtime tmux: tmux is not installed, or it is not in the PATH of the daemon that runs there',
    },
  ],
  summary: '1 does not offer runtime tmux, 1 without a free port in 30000-30003',
  ports: { min: 30000, max: 30003 },
  portHoldersTotal: 4,
  portHolders: [
    { port: 30000, nodeId: 'alpha', instanceId: '8fj2k1', ...holder },
    { port: 30001, nodeId: 'alpha', instanceId: 'zz91pq', ...holder, instanceNodeId: 'beta' },
    { port: 30002, nodeId: 'alpha', ...foreign, protocol: 'tcp', foundAgoMs: 12_000 },
    { port: 30003, nodeId: 'alpha', ...foreign, protocol: null, foundAgoMs: null },
  ],
});

describe('the text of an instance', () => {
  it('is short when all is well', () => {
    expect(instanceText()).toEqual([
      'k3x9p2 (lobby) is ONLINE, as it should be: up for 2 h 10 min on alpha, port 30000.',
      '',
      '  desired    run',
      '  actual     ONLINE',
      '  node       alpha, connected',
      '  port       30000',
      '  process    pid 42, up for 2 h 10 min',
      '  restarts   0',
    ]);
  });

  it('shows a crash loop with the last lines of each run', () => {
    const exits = [
      pastExit({ run: 4, lastLines: ['Error: no module', '\tat load (main.js:7)', 'x'.repeat(300)] }),
      pastExit({
        run: 3,
        agoMs: 90_000,
        at: NOW - 90_000,
        code: null,
        signal: 'SIGSEGV',
        lastLines: ['1', '2', '3'],
      }),
      pastExit({ run: 2, agoMs: 95_000, at: NOW - 95_000, wasAsked: true, code: 0, lastLines: [] }),
      pastExit({ run: 1, code: null, output: 'unknown', lastLines: [] }),
    ];
    const description = down({ failuresInARow: 4, restarts: 2, retryInMs: 3600, exits });
    const record = recordWith({ state: 'OFFLINE', reason: 'exited', pid: null });
    expect(instanceText({ record, answer: { kind: 'answered', description } })).toEqual([
      'k3x9p2 (lobby) waits 4 s for restart 3: it exited with code 1, the 4th failure in a row.',
      '  next       Each failure doubles the delay, up to 60 s; 60 s of being up end that.',
      '  to do      Its last lines say more (`instance logs k3x9p2`). `instance restart k3x9p2` starts it',
      '             at once.',
      '',
      '  desired    run',
      '  actual     OFFLINE (exited)',
      '  node       alpha, connected',
      '  port       30000',
      '  restarts   2, 4 failures in a row',
      '  next try   in 4 s',
      '',
      'Last runs, newest first',
      '  run 4 exited with code 1 3 s ago (2026-01-31 12:00:38Z)',
      '    | Error: no module',
      '    |   at load (main.js:7)',
      `    | ${'x'.repeat(93)}…`,
      '  run 3 was ended by SIGSEGV 90 s ago (2026-01-31 11:59:11Z)',
      '    | 2',
      '    | 3',
      '  run 2 exited with code 0, as asked 95 s ago (2026-01-31 11:59:06Z); it wrote nothing',
      '  run 1 ended while nobody watched 3 s ago (2026-01-31 12:00:38Z); nobody saw what it wrote last',
    ]);
  });

  it('shows what each node says, and who holds the ports', () => {
    const record = recordWith({ state: 'CREATING', reason: 'no-node-fits', pid: null }, { placement: null });
    const facts = { record, placement: FULL, answer: { kind: 'none' }, node: undefined } as const;
    expect(instanceText(facts)).toEqual([
      'k3x9p2 (lobby) fits on none of 2 nodes: 1 does not offer runtime tmux, 1 without a free port in',
      '30000-30003.',
      '  next       It gets a node as soon as one fits. Ports of other programs are tried again within a',
      '             minute.',
      '  to do      Free a port, or widen availablePorts of lobby (30000-30003) and delete the instance.',
      '',
      '  desired    run',
      '  actual     CREATING (no-node-fits)',
      '  node       none yet',
      '  restarts   0',
      '',
      'Nodes (0 of 2 nodes fit)',
      '  alpha       has no free port in 30000-30003',
      '  eu-west-1b  does not offer runtime tmux: tmux is not installed, or it is not in the PATH of the',
      '              daemon that runs there',
      '',
      'Ports 30000-30003',
      '  alpha  30000  instance 8fj2k1 (lobby)',
      '  alpha  30001  instance zz91pq (lobby) on beta, same host address',
      '  alpha  30002  another program (tcp), found 12 s ago',
      '  alpha  30003  another program',
    ]);
  });

  it('never has a line of several words and more than 100 columns, nor a control character, whatever the facts say', () => {
    const message = `\u001b[31m${'no-spaces-at-all-'.repeat(20)} and ${'words '.repeat(60)}`;
    const description = down({
      problem: { reason: 'install-failed', message },
      exits: [pastExit({ lastLines: ['y'.repeat(700)] })],
    });
    const nodes = [{ nodeId: 'n'.repeat(64), fits: false, failed: 'ram', message }];
    const lines = instanceText({
      answer: { kind: 'answered', description },
      placement: placementView({ nodes }),
      fileErrors: [{ file: 'lobby.json', line: 1, column: 1, field: null, message }],
    });
    const long = lines.filter((line) => line.length > 100);
    expect(long.filter((line) => /\S \S/.test(line.trim().replace(/^(?:\S+ )+ +/, '')))).toEqual([]);
    expect(lines.join('')).not.toMatch(/\p{Cc}/u);
    expect(lines.join(' ')).toContain('words words');
  });
});

describe('the text of a configuration', () => {
  it('shows the numbers, its file, its instances, and where one more would fit', () => {
    const service = serviceView({ minimum: 1, maximum: 4 });
    expect(configurationText({ service })).toEqual([
      'lobby is as it should be: 1 instance ONLINE, 1 asked for.',
      '',
      '  asked for  1, at most 4',
      '  there      1 that count, 1 ONLINE',
      '  file       lobby.json, in force',
      '',
      'Instances',
      '  k3x9p2  ONLINE  is ONLINE, as it should be: up for 2 h 10 min on alpha, port 30000',
      '',
      'One more instance (1 of 1 node fits)',
      '  alpha  fits: needs 100 MB of RAM',
    ]);
  });

  it('shows a broken file and the wait of minimum-service', () => {
    const error = { file: 'lobby.json', line: 7, column: 3, field: 'ramMB', message: 'ramMB: must be less' };
    const service = serviceView({ minimum: 2, nextCreationInMs: 8000 });
    const lines = configurationText({ service, fileErrors: [error], placement: FULL, instances: [] });
    expect(lines).toEqual([
      'lobby has 1 of 2 instances: the instances that were created last did not stay; besides, lobby.json',
      'is broken.',
      '  next       More are created in 8 s; the wait doubles each time, up to 60 s.',
      '  to do      Mend line 7 of lobby.json (ramMB) and save it. See why they stopped by themselves or',
      '             were lost: instances that stay for a minute end the wait.',
      '  note       lobby.json is broken at line 7: ramMB: must be less. What it said before stays in',
      '             force.',
      '',
      '  asked for  2',
      '  there      1 that count, 1 ONLINE',
      '  creating   in 8 s',
      '  file       lobby.json, broken at line 7 (ramMB)',
      '',
      'One more instance (0 of 2 nodes fit)',
      '  alpha       has no free port in 30000-30003',
      '  eu-west-1b  does not offer runtime tmux: tmux is not installed, or it is not in the PATH of the',
      '              daemon that runs there',
      '',
      'Ports 30000-30003',
      '  alpha  30000  instance 8fj2k1 (lobby)',
      '  alpha  30001  instance zz91pq (lobby) on beta, same host address',
      '  alpha  30002  another program (tcp), found 12 s ago',
      '  alpha  30003  another program',
    ]);
  });

  it('says how many more there are than it lists', () => {
    const instances = Array.from({ length: 100 }, () => instanceFacts());
    const many = configurationText({ instances, instancesTotal: 2500, record: configurationRecord() });
    expect(many).toContain('  and 2400 more');
    const portHolders = Array.from({ length: 100 }, (_, n) => ({
      port: 30000 + n,
      nodeId: 'alpha',
      instanceId: '8fj2k1',
      ...holder,
    }));
    const ports = { min: 30000, max: 39999 };
    expect(
      configurationText({ placement: { ...FULL, ports, portHolders, portHoldersTotal: 10_000 } }).at(-1),
    ).toBe('  and 9980 more');
  });
});
