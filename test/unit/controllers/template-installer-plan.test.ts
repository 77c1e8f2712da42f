/** The installer's decisions: assignment and handle in, the next step out. */
import { describe, expect, it } from 'vitest';
import {
  type InstallerFacts,
  missingMessage,
  plan,
} from '../../../controllers/wrapper/template-installer/plan.js';
import type { Assignment } from '../../../src/channel/protocol/messages.js';
import { type Handle, nextStartOf, type Problem } from '../../../src/node/handle.js';
import {
  desired,
  down,
  handle,
  ID,
  remaining,
  running,
  starting,
  stopped,
} from '../../support/control-plane/wrapper-facts.js';

const NOW = 100_000;

function template(name: string, digest: string | null = `digest-${name}`): Assignment['templates'][number] {
  return { group: 'games', name, priority: 0, digest };
}

function factsOf(fields: Partial<InstallerFacts>): InstallerFacts {
  return {
    id: ID,
    desired: desired(),
    handle: handle(),
    isNodeStopping: false,
    missingSecrets: [],
    missingDigests: [],
    isLastInstallCached: true,
    isMasterConnected: true,
    isFetching: false,
    ...fields,
  };
}

const hinderedBy = (problem: Problem | null, inMs?: number): Handle =>
  handle({
    phase: down({ next: { problem, delay: inMs === undefined ? null : { until: NOW + inMs, ms: inMs } } }),
  });
const late = (inMs: number): Handle => hinderedBy(null, inMs);

function decide(fields: Partial<InstallerFacts>): string[] {
  const { steps, recheckInMs } = plan(factsOf(fields), NOW);
  const said = steps.map((step) => {
    if (step.do === 'fetch') return `fetch ${step.digest}`;
    if (step.do === 'note-missing')
      return `note ${step.reason}: ${[...new Set(step.message.match(/games\/\w+/g))].join(' ')}`;
    if (step.do !== 'install' || step.behind === null) return step.do;
    return `install ${step.templates.map(({ digest }) => digest).join(' ')}: ${step.behind}`;
  });
  return recheckInMs === undefined ? said : [...said, `look again in ${recheckInMs} ms`];
}

describe('the plan of the template installer', () => {
  it('installs when every tree is held, with or without templates', () => {
    expect(decide({})).toEqual(['install']);
    expect(decide({ desired: desired({ templates: [template('a'), template('b')] }) })).toEqual(['install']);
  });

  it('fetches what is not held, one tree at a time', () => {
    const wanted = desired({ templates: [template('a', 'one'), template('b', 'two')] });
    expect(decide({ desired: wanted, missingDigests: ['one', 'two'] })).toEqual(['fetch one']);
    expect(decide({ desired: wanted, missingDigests: ['two'] })).toEqual(['fetch two']);
    expect(decide({ desired: wanted, missingDigests: ['two'], isFetching: true })).toEqual([]);
  });

  it.each<[string, Partial<Handle>]>([
    ['it is prepared', { phase: down({ directory: 'prepared' }) }],
    ['a start is under way', { phase: starting() }],
    ['something of the last run may live', { phase: remaining() }],
    ['a stop is to be noted as complete', { phase: stopped() }],
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
    const ended = { run: 1, exit, end: 'unasked' } as const;
    expect(decide({ handle: handle(ended), desired: wanted })).toEqual([]);
    expect(decide({ handle: handle({ ...ended, exit: { ...exit, code: 1 } }), desired: wanted })).toEqual([
      'install',
    ]);
    expect(decide({ handle: handle({ ...ended, end: 'asked' }), desired: wanted })).toEqual(['install']);
  });

  it('waits after a failure', () => {
    expect(decide({ handle: late(300) })).toEqual(['look again in 300 ms']);
    expect(decide({ handle: late(0) })).toEqual(['install']);
  });

  describe('with a template that the master does not have', () => {
    const wanted = desired({ templates: [template('a', null), template('b'), template('c', null)] });
    const noted = (templates: readonly string[]) =>
      hinderedBy({ reason: 'template-missing', message: missingMessage(templates), busyPort: null });

    it('says so once, and again when others are missing', () => {
      expect(decide({ desired: wanted })).toEqual(['note template-missing: games/a games/c']);
      expect(decide({ desired: wanted, handle: noted(['games/a', 'games/c']) })).toEqual([]);
      expect(decide({ desired: wanted, handle: noted(['games/a']) })).toEqual([
        'note template-missing: games/a games/c',
      ]);
    });

    it("says the master's own reason where there is one, and again when it changes", () => {
      const told = (problem: string) =>
        desired({ templates: [template('a', null), { ...template('b', null), problem }] });
      const messageOf = (wanted: ReturnType<typeof told>) =>
        plan(factsOf({ desired: wanted }), NOW).steps.map((step) =>
          step.do === 'note-missing' ? step.message : step.do,
        );
      const first = messageOf(told('storage main has no template games/b'));
      expect(first).toEqual([`storage main has no template games/b; ${missingMessage(['games/a'])}`]);
      const message = first[0] ?? '';
      const known = hinderedBy({ reason: 'template-missing', message, busyPort: null });
      expect(decide({ desired: told('storage main has no template games/b'), handle: known })).toEqual([]);
      expect(decide({ desired: told('it is being downloaded'), handle: known })).toEqual([
        'note template-missing: games/a',
      ]);
    });

    it('waits for secrets first, without a delay, and starts when they are there', () => {
      const missingSecrets = ['there is no secret db'];
      const { steps } = plan(factsOf({ desired: wanted, missingSecrets }), NOW);
      expect(steps).toEqual([
        { do: 'note-missing', reason: 'secret-missing', message: 'there is no secret db' },
      ]);
      const known = hinderedBy({
        reason: 'secret-missing',
        message: 'there is no secret db',
        busyPort: null,
      });
      expect(decide({ missingSecrets, handle: known })).toEqual([]);
      expect(decide({ handle: known })).toEqual(['install']);
    });

    it('fetches nothing before all are there, and then does not wait', () => {
      expect(decide({ desired: wanted, missingDigests: ['digest-b'] })).toEqual([
        'note template-missing: games/a games/c',
      ]);
      const late = hinderedBy(nextStartOf(noted(['games/a'])).problem, 9000);
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

  it('waits for the connection where a tree can come no other way, and says so once', () => {
    const wanted = desired({ templates: [template('a')] });
    const away = { desired: wanted, missingDigests: ['digest-a'], isMasterConnected: false };
    const message =
      'template games/a cannot be fetched: the master is not connected; Drover fetches it when the connection is back';
    const noted = hinderedBy({ reason: 'template-missing', message, busyPort: null });
    expect(decide(away)).toEqual(['note template-missing: games/a']);
    expect(decide({ ...away, handle: noted })).toEqual([]);
    expect(decide({ ...away, handle: noted, isMasterConnected: true })).toEqual(['fetch digest-a']);
    expect(decide({ ...away, missingDigests: [] })).toEqual(['install']);
  });

  it('does not wait after a failed fetch when the tree has come another way, or is not wanted any more', () => {
    const problem = { reason: 'install-failed', message: 'no', busyPort: null, digest: 'digest-a' } as const;
    const failed = hinderedBy(problem, 300);
    const wanted = desired({ templates: [template('a')] });
    expect(decide({ desired: wanted, handle: failed, missingDigests: ['digest-a'] })).toEqual([
      'look again in 300 ms',
    ]);
    expect(decide({ desired: wanted, handle: failed })).toEqual(['install']);
    const changed = desired({ templates: [template('a', 'newer')] });
    expect(decide({ desired: changed, handle: failed, missingDigests: ['newer'] })).toEqual(['fetch newer']);
  });

  describe('for a restart that nobody asked for', () => {
    const last = { restartToken: 0, templates: [template('a', 'old-a'), template('b')], behind: null };
    const ended = handle({ run: 1, end: 'unasked', installed: last });
    const changed = desired({ templates: [template('a'), template('b')] });
    const lacking = { desired: changed, handle: ended, missingDigests: ['digest-a'] };

    it('takes the trees of the last install while a newer one is not here, and says why', () => {
      expect(decide(lacking)).toEqual([
        'install old-a digest-b: runs with the files of its last install: template games/a changed, and its new files are still to be fetched',
      ]);
      expect(decide({ ...lacking, isMasterConnected: false })).toEqual([
        'install old-a digest-b: runs with the files of its last install: template games/a changed, and the master is not connected',
      ]);
      const gone = desired({ templates: [template('a', null), template('b')] });
      expect(decide({ desired: gone, handle: ended })).toEqual([
        `install old-a digest-b: runs with the files of its last install: ${missingMessage(['games/a'])}`,
      ]);
    });

    it('takes the newer ones when they are here', () => {
      expect(decide({ ...lacking, missingDigests: [] })).toEqual(['install']);
    });

    it('waits as after every failure', () => {
      expect(decide({ ...lacking, handle: { ...ended, phase: late(300).phase } })).toEqual([
        'look again in 300 ms',
      ]);
    });

    it.each<[string, Partial<InstallerFacts>]>([
      ['the restart was asked for', { handle: { ...ended, installed: { ...last, restartToken: -1 } } }],
      ['nothing was installed yet', { handle: { ...ended, installed: null } }],
      ['the trees of the last install are gone', { isLastInstallCached: false }],
      ['it has other templates by now', { desired: desired({ templates: [template('a')] }) }],
    ])('fetches the newer ones where %s', (_what, fields) => {
      expect(decide({ ...lacking, ...fields })).toEqual(['fetch digest-a']);
    });

    it('does not wait for a look of the master at a newer tree, which a restart that was asked for does', () => {
      const problem = 'games/b is being compared';
      const looked = desired({ templates: [template('a', 'old-a'), { ...template('b'), problem }] });
      expect(decide({ desired: looked, handle: ended })).toEqual(['install']);
      const asked = { ...ended, installed: { ...last, restartToken: -1 } };
      expect(decide({ desired: looked, handle: asked })).toEqual(['note template-missing: games/b']);
      expect(decide({ desired: looked, handle: { ...ended, installed: null } })).toEqual([
        'note template-missing: games/b',
      ]);
    });
  });

  describe('of a directory that is prepared for a start', () => {
    const installed = { restartToken: 0, templates: [template('a', 'old-a')], behind: null };
    const phase = down({ directory: 'prepared' });
    const prepared = handle({ phase, installed });
    const changed = desired({ templates: [template('a')] });

    it('discards it when a template has changed and is here', () => {
      expect(decide({ desired: changed, handle: prepared })).toEqual(['discard-install']);
      const same = desired({ templates: [template('a', 'old-a')] });
      expect(decide({ desired: same, handle: prepared })).toEqual([]);
    });

    it.each<[string, Partial<InstallerFacts>]>([
      ['the changed template is not here', { missingDigests: ['digest-a'] }],
      ['the master has the template no longer', { desired: desired({ templates: [template('a', null)] }) }],
      [
        'the master is looking for a newer one',
        { desired: desired({ templates: [{ ...template('a'), problem: 'a look' }] }) },
      ],
      ['it runs', { handle: running({ installed }) }],
      ['nobody knows what it was made from', { handle: handle({ phase }) }],
    ])('keeps it where %s', (_what, fields) => {
      expect(decide({ desired: changed, handle: prepared, ...fields })).toEqual([]);
    });
  });
});
