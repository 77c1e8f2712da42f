/**
 * The start text and prompt of a node that is only a wrapper: its instances and its master's presence, but no
 * command of the master.
 */
import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import { MemberNode } from '../../../src/daemon/member-node.js';
import type { WrapperStatus } from '../../../src/wrapper.js';

describe('a node that is only a wrapper', () => {
  let status: WrapperStatus;
  let stops: number;
  let node: MemberNode;

  beforeEach(() => {
    status = { isConnected: true, instances: [], offers: [] };
    stops = 0;
    node = new MemberNode({
      nodeId: 'far',
      paths: { root: '/srv/drover', droverLog: '/srv/drover/logs/drover.log' },
      masterAddress: () => '10.0.0.1:6000',
      logger: pino({ level: 'silent' }),
      wrapper: { status: () => status, aliveInstances: () => [], stopInstances: async () => undefined },
      running: { stop: async () => undefined },
      stop: () => stops++,
    });
  });

  const run = async (line: string): Promise<string> => {
    const parts: string[] = [];
    await node.commands.run(line, { write: (text) => parts.push(text) });
    return parts.join('');
  };
  const instance = (id: string, state: 'ONLINE' | 'OFFLINE', message: string | null = null) => ({
    id,
    configurationName: 'lobby',
    state,
    message,
  });

  it('says whose wrapper it is when it starts', () => {
    const text = node.describe({ hasPrompt: true }).join('\n');
    expect(text).toContain('Drover is running as node far, a wrapper, in /srv/drover');
    expect(text).toContain('master   10.0.0.1:6000, connected\n  holds    0 instances');
    expect(text).toContain('console  type help');
    expect(node.describe({ hasPrompt: false }).join('\n')).not.toContain('console');
  });

  it('shows on demand what it holds, and that the master is away', async () => {
    status = {
      ...status,
      isConnected: false,
      instances: [instance('aaaaaa', 'ONLINE'), instance('bbbbbb', 'OFFLINE', 'exited with code 1')],
    };
    expect(await run(' status ')).toBe(
      [
        '  master   10.0.0.1:6000, NOT connected: what it said last goes on, and the log says why',
        '  holds    2 instances',
        '  aaaaaa  lobby  ONLINE',
        '  bbbbbb  lobby  OFFLINE  exited with code 1',
        '',
      ].join('\n'),
    );
  });

  it('names some of very many instances', async () => {
    status = {
      ...status,
      instances: Array.from({ length: 30 }, (_, index) => instance(`i${index}`, 'ONLINE')),
    };
    expect(await run('status')).toMatch(/ {2}i19 .*\n {2}\.\.\. and 10 more\n$/);
  });

  it('ends Drover on demand, helps, completes, and refuses the rest', async () => {
    expect(await run('help')).toMatch(/help .*\n.*status .*\n.*stop /);
    expect(await run('stop')).toContain('Instances go on running');
    expect(stops).toBe(1);
    expect(await run('instance list')).toBe(
      'error: this node is a wrapper and knows help, status, stop; the master runs the rest\n',
    );
    expect(await node.commands.complete('st')).toEqual([['status', 'stop'], 'st']);
  });
});
