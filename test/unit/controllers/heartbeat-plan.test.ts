/** The heartbeat controller's decisions: a node's contact in; its condition and the marks of its instances out. */
import { describe, expect, it } from 'vitest';
import { type NodeFacts, plan, RETURN_WITHIN_MS } from '../../../controllers/master/heartbeat/plan.js';

function decide(fields: Partial<NodeFacts>): string[] {
  const facts: NodeFacts = {
    nodeId: 'alpha',
    condition: 'connected',
    isConnected: true,
    silentMs: 0,
    goneForMs: null,
    timeoutMs: 6000,
    standing: [],
    marked: [],
    ...fields,
  };
  const { steps, recheckInMs } = plan(facts);
  const said = steps.map((step) => {
    if (step.do === 'set-condition') return `${step.condition}: ${step.why}`;
    return `${step.do} ${step.ids.length > 5 ? step.ids.length : step.ids.join(' ')}`;
  });
  return recheckInMs === undefined ? said : [...said, `look again in ${recheckInMs} ms`];
}

const GONE = { isConnected: false } as const;

describe('the plan of the heartbeat controller', () => {
  it('says of a node that was never heard of for how long this master has led', () => {
    expect(decide({ ...GONE, silentMs: 6000, awaitedMs: 8000 })).toEqual([
      'lost: not heard of in the 8.0 s since this master began to lead (nodeTimeoutMs 6000)',
    ]);
  });

  it('has no steps while beats arrive, and looks again when the next would be overdue', () => {
    expect(decide({ silentMs: 1500, standing: ['a'] })).toEqual(['look again in 4500 ms']);
  });

  it.each([
    [5999, ['look again in 1 ms']],
    [6000, ['lost: no beat for 6.0 s (nodeTimeoutMs 6000)', 'mark-lost a b']],
    [7250, ['lost: no beat for 7.3 s (nodeTimeoutMs 6000)', 'mark-lost a b']],
  ])('after %i ms of silence on a connection that stands', (silentMs, expected) => {
    expect(decide({ silentMs, standing: ['a', 'b'] })).toEqual(expected);
  });

  it('keeps what was known of a node that was cut off a moment ago', () => {
    expect(decide({ ...GONE, silentMs: 2000, standing: ['a'] })).toEqual(['look again in 4000 ms']);
    expect(decide({ ...GONE, silentMs: 2000, condition: 'returning' })).toEqual(['look again in 4000 ms']);
  });

  it('does not take a lost node for found before it is connected again', () => {
    expect(decide({ ...GONE, silentMs: 0, condition: 'lost' })).toEqual([]);
  });

  it('keeps the instances of a node that said it will be back, for a minute', () => {
    const leaving = { ...GONE, silentMs: 9000, standing: ['a'] };
    expect(decide({ ...leaving, goneForMs: 9000 })).toEqual([
      'returning: it said that it will be back; its instances keep their state for 60 s',
      'look again in 51000 ms',
    ]);
    expect(decide({ ...leaving, goneForMs: RETURN_WITHIN_MS - 1, condition: 'returning' })).toEqual([
      'look again in 1 ms',
    ]);
    expect(decide({ ...leaving, goneForMs: RETURN_WITHIN_MS, condition: 'returning' })).toEqual([
      'lost: it did not come back within 60 s',
      'mark-lost a',
    ]);
  });

  it('takes back what it said of the instances of a node that returns', () => {
    expect(decide({ condition: 'lost', marked: ['a', 'b'], standing: ['c'] })).toEqual([
      'connected: beats arrive',
      'restore a b',
      'look again in 6000 ms',
    ]);
    expect(decide({ condition: 'returning' })).toEqual(['connected: beats arrive', 'look again in 6000 ms']);
  });

  it('finishes what a master that died in between had begun', () => {
    expect(decide({ ...GONE, silentMs: 8000, condition: 'lost', standing: ['a'] })).toEqual(['mark-lost a']);
    expect(decide({ marked: ['a'] })).toEqual(['restore a', 'look again in 6000 ms']);
  });

  it('changes no more than 100 instances in one step', () => {
    const standing = Array.from({ length: 250 }, (_, index) => `i${index}`);
    expect(decide({ ...GONE, silentMs: 8000, condition: 'lost', standing })).toEqual([
      'mark-lost 100',
      'mark-lost 100',
      'mark-lost 50',
    ]);
  });
});
