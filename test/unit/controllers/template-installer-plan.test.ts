/** The installer's decisions: assignment and handle in, the next step out. */
import { describe, expect, it } from 'vitest';
import {
  type InstallerFacts,
  missingMessage,
  plan,
} from '../../../controllers/wrapper/template-installer/plan.js';
import type { Assignment } from '../../../src/channel/protocol/messages.js';
import type { Handle } from '../../../src/node/handle-book.js';
import { desired, handle, ID, running } from '../../support/control-plane/wrapper-facts.js';

const NOW = 100_000;

function template(name: string, digest: string | null = `digest-${name}`): Assignment['templates'][number] {
  return { group: 'games', name, priority: 0, digest };
}

function decide(fields: Partial<InstallerFacts>): string[] {
  const facts: InstallerFacts = {
    id: ID,
    desired: desired(),
    handle: handle(),
    isNodeStopping: false,
    missingDigests: [],
    ...fields,
  };
  const { steps, recheckInMs } = plan(facts, NOW);
  const said = steps.map((step) => {
    if (step.do === 'fetch') return `fetch ${step.digest}`;
    return step.do === 'note-missing' ? `note missing ${step.templates.join(' ')}` : step.do;
  });
  return recheckInMs === undefined ? said : [...said, `look again in ${recheckInMs} ms`];
}

describe('the plan of the template installer', () => {
  it('installs when every tree is held, with or without templates', () => {
    expect(decide({})).toEqual(['install']);
    expect(decide({ desired: desired({ templates: [template('a'), template('b')] }) })).toEqual(['install']);
  });

  it('fetches what is not held, one tree at a time', () => {
    expect(decide({ missingDigests: ['one', 'two'] })).toEqual(['fetch one']);
    expect(decide({ missingDigests: ['two'] })).toEqual(['fetch two']);
  });

  it.each<[string, Partial<Handle>]>([
    ['it is prepared', { isPrepared: true }],
    ['a start is under way', { isStarting: true }],
    ['something of the last run may live', { hasRemains: true }],
    ['a stop is under way', { stopping: { signal: 'SIGTERM', begunAt: 0, signalledAt: 0, since: 0 } }],
    ['its process lives', running()],
    ['a restart was asked for and not acted on', { restartToken: 7 }],
  ])('leaves the working directory alone while %s', (_what, fields) => {
    expect(decide({ handle: handle(fields) })).toEqual([]);
  });

  it('installs nothing for what is not to run', () => {
    expect(decide({ desired: desired({ goal: 'stop' }) })).toEqual([]);
    expect(decide({ desired: desired({ goal: 'remove' }) })).toEqual([]);
    expect(decide({ desired: undefined })).toEqual([]);
    expect(decide({ isNodeStopping: true })).toEqual([]);
  });

  it('leaves the directory of what its restart policy does not start again as it is', () => {
    const exit = { code: 0, signal: null, at: 0 };
    const wanted = desired({}, false, { restartPolicy: 'on-failure' });
    const ended = { run: 1, exit, hasEnded: true } as const;
    expect(decide({ handle: handle(ended), desired: wanted })).toEqual([]);
    expect(decide({ handle: handle({ ...ended, exit: { ...exit, code: 1 } }), desired: wanted })).toEqual([
      'install',
    ]);
    expect(decide({ handle: handle({ ...ended, hasEnded: false }), desired: wanted })).toEqual(['install']);
  });

  it('waits after a failure', () => {
    expect(decide({ handle: handle({ notBefore: NOW + 300 }) })).toEqual(['look again in 300 ms']);
    expect(decide({ handle: handle({ notBefore: NOW }) })).toEqual(['install']);
  });

  describe('with a template that the master does not have', () => {
    const wanted = desired({ templates: [template('a', null), template('b'), template('c', null)] });
    const noted = (templates: readonly string[]) =>
      handle({ problem: { reason: 'template-missing', message: missingMessage(templates), busyPort: null } });

    it('says so once, and again when others are missing', () => {
      expect(decide({ desired: wanted })).toEqual(['note missing games/a games/c']);
      expect(decide({ desired: wanted, handle: noted(['games/a', 'games/c']) })).toEqual([]);
      expect(decide({ desired: wanted, handle: noted(['games/a']) })).toEqual([
        'note missing games/a games/c',
      ]);
    });

    it("says the master's own reason where there is one, and again when it changes", () => {
      const told = (problem: string) =>
        desired({ templates: [template('a', null), { ...template('b', null), problem }] });
      const messageOf = (wanted: ReturnType<typeof told>) =>
        plan(
          { id: ID, desired: wanted, handle: handle(), isNodeStopping: false, missingDigests: [] },
          NOW,
        ).steps.map((step) => (step.do === 'note-missing' ? step.message : step.do));
      const first = messageOf(told('storage main has no template games/b'));
      expect(first).toEqual([`storage main has no template games/b; ${missingMessage(['games/a'])}`]);
      const message = first[0] ?? '';
      const known = handle({ problem: { reason: 'template-missing', message, busyPort: null } });
      expect(decide({ desired: told('storage main has no template games/b'), handle: known })).toEqual([]);
      expect(decide({ desired: told('it is being downloaded'), handle: known })).toEqual([
        'note missing games/a games/b',
      ]);
    });

    it('fetches nothing before all are there, and then does not wait', () => {
      expect(decide({ desired: wanted, missingDigests: ['digest-b'] })).toEqual([
        'note missing games/a games/c',
      ]);
      const late = { ...noted(['games/a']), notBefore: NOW + 9000 };
      expect(decide({ desired: desired({ templates: [template('a')] }), handle: late })).toEqual(['install']);
    });

    it('names one or all of them, and what to do', () => {
      expect(missingMessage(['games/a'])).toBe(
        'template games/a cannot be used: the master has no usable templates/games/a',
      );
      expect(missingMessage(['games/a', 'games/c'])).toBe(
        'templates games/a, games/c cannot be used: the master has no usable directories of these names',
      );
    });
  });
});
