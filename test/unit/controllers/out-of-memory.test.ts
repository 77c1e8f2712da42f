import { expect, it } from 'vitest';
import {
  describe as describeRun,
  explainExit,
} from '../../../controllers/wrapper/process-supervisor/report.js';
import { afterExit } from '../../../controllers/wrapper/process-supervisor/restart-delay.js';
import { reportSchema } from '../../../src/channel/protocol/messages.js';
import type { Exit } from '../../../src/model/run/past-exit.js';
import type { Handle } from '../../../src/node/handle.js';
import { desired, running, supervisorFacts } from '../../support/control-plane/wrapper-facts.js';

const KILLED: Exit = { code: null, signal: 'SIGKILL', at: 0 };
const FACTS = { hasKilled: () => true, ramMB: 64 };

function causeOf(exit: Exit, facts = FACTS, handle: Handle = running()): string | undefined {
  return explainExit(handle, exit, facts).cause;
}

it('names the limit of RAM where that has killed', () => {
  expect(causeOf(KILLED)).toBe('killed: out of memory at 64 MB');
  // The main process is often but a shell, which ends by what its child came to.
  expect(causeOf({ code: 137, signal: null, at: 0 })).toBe('killed: out of memory at 64 MB');
  expect(explainExit(running(), KILLED, { ...FACTS, ramMB: undefined }).cause).toBe('killed: out of memory');
});

it('believes a runtime that knows before it asks', () => {
  const never = { hasKilled: () => false, ramMB: 64 };
  expect(causeOf({ ...KILLED, isOutOfMemory: true }, never)).toBe('killed: out of memory at 64 MB');
  expect(causeOf({ ...KILLED, isOutOfMemory: false })).toBeUndefined();
});

it('leaves other ends as they are: killed by somebody else, a success, one that was asked for, one explained', () => {
  expect(causeOf(KILLED, { ...FACTS, hasKilled: () => false })).toBeUndefined();
  expect(causeOf({ code: 0, signal: null, at: 0 })).toBeUndefined();
  expect(causeOf({ ...KILLED, cause: 'its container was removed' })).toBe('its container was removed');
  const stopping = { signal: 'SIGTERM', signalledAt: 0, since: 0, begunAt: 0 } as const;
  expect(causeOf(KILLED, FACTS, running({}, { stopping }))).toBeUndefined();
});

it('is kept with the last end and the past runs', () => {
  const before = running();
  const exit = explainExit(before, KILLED, FACTS);
  const after = afterExit(before, exit, 1000, 0);
  expect(after.exits).toMatchObject([{ signal: 'SIGKILL', cause: 'killed: out of memory at 64 MB' }]);
  expect(after.exit).toMatchObject({ cause: 'killed: out of memory at 64 MB' });
});

it('is reported among the ends that nobody asked for, each within the bounds of a report', () => {
  const exits = [
    {
      run: 3,
      at: 30,
      code: null,
      signal: 'S'.repeat(100),
      cause: 'c'.repeat(300),
      wasAsked: false,
      output: null,
    },
    { run: 2, at: 20, code: 0, signal: null, wasAsked: true, output: null },
    { run: 1, at: 10, code: null, signal: 'SIGKILL', kind: 'out-of-memory', wasAsked: false, output: null },
  ] as const;
  const report = describeRun(supervisorFacts({ desired: desired(), handle: running({ exits }) }));
  expect(report?.ends).toMatchObject([
    { run: 3, at: 30, signal: expect.stringMatching(/^S+/) },
    { run: 1, at: 10, signal: 'SIGKILL', kind: 'out-of-memory' },
  ]);
  expect(reportSchema.safeParse(report).error).toBeUndefined();
});
