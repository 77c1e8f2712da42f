/** Which texts name a point in a log, and what is said of the others. */
import { expect, it } from 'vitest';
import { LOG_POINT_RULE, logPointsProblem, parseLogPoint } from '../../../src/operations/log-point.js';

it('reads times with a zone, ages and line numbers', () => {
  const at = Date.UTC(2026, 0, 31, 12, 0, 5);
  expect(parseLogPoint('2026-01-31T12:00:05Z')).toEqual({ at });
  expect(parseLogPoint('2026-01-31T12:00:05.250Z')).toEqual({ at: at + 250 });
  expect(parseLogPoint('2026-01-31 13:00:05+01:00')).toEqual({ at });
  // A plus sign that was not encoded in a URL.
  expect(parseLogPoint('2026-01-31T13:00:05 01:00')).toEqual({ at });
  expect(parseLogPoint('2026-01-31T12:00Z')).toEqual({ at: at - 5000 });
  expect(parseLogPoint('10m')).toEqual({ ago: 600_000 });
  expect(parseLogPoint('4711')).toEqual({ line: 4711 });
});

it('says what is wrong with other texts, and names the fix', () => {
  for (const text of ['', '0', '-1', '1.5', '10', 'yesterday', '10 m', '2026-13-01T00:00:00Z', '2026-01-31'])
    expect([text, parseLogPoint(text)]).toEqual([
      text,
      text === '10' ? { line: 10 } : { problem: LOG_POINT_RULE },
    ]);
  expect(parseLogPoint('2026-01-31T12:00:05')).toEqual({
    problem: expect.stringContaining('end it with Z for UTC'),
  });
});

it('refuses an end before the beginning, where the two can be compared', () => {
  expect(logPointsProblem({ at: 2000 }, { at: 1000 })).toContain('exchange since and until');
  expect(logPointsProblem({ ago: 1000 }, { ago: 2000 })).toContain('exchange');
  expect(logPointsProblem({ line: 5 }, { line: 4 })).toContain('exchange');
  expect(logPointsProblem({ ago: 2000 }, { ago: 1000 })).toBeUndefined();
  expect(logPointsProblem({ line: 5 }, { at: 0 })).toBeUndefined();
  expect(logPointsProblem(undefined, { at: 0 })).toBeUndefined();
});
