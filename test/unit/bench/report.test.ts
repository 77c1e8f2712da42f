import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compareResults } from '../../bench/report/compare.js';
import { thisMachine } from '../../bench/report/machine.js';
import { numbersOf } from '../../bench/report/numbers.js';
import { figuresOf, rowsInTheMiddle } from '../../bench/report/page.js';
import { type Plot, svgOf } from '../../bench/report/plot.js';
import { type Result, readResult, resultRowsOf, writeResult } from '../../bench/report/result.js';
import type { Row } from '../../bench/table.js';

const MACHINE = { cores: 2, cpu: 'Fast CPU', memoryMB: 8192, kernel: '6.1', node: 'v24.0.0' };
const PLOT: Plot = {
  name: 'cost',
  title: 'Cost & size',
  xLabel: 'instances',
  yLabel: 'ms',
  lines: [
    { label: 'one', points: [[100, 1]] },
    {
      label: 'two',
      points: [
        [100, 2],
        [10_000, 7.3],
      ],
    },
  ],
};

function row(figure: string, value: string, more: Partial<Row> = {}): Row {
  return { figure, value, baseline: '-', target: '< 5 ms', ok: true, ...more };
}

function result(rows: readonly Row[], machine: Partial<Result['machine']> = {}): Result {
  return {
    date: '2026-01-02T03:04:05.000Z',
    commit: 'abc',
    machine: { ...MACHINE, ...machine },
    rows: resultRowsOf('api', rows),
  };
}

describe('the numbers of a row', () => {
  it.each([
    ['9.7 ms', 'node-pty 1.6 ms', { number: 9.7, unit: 'ms', baselineNumber: 1.6, ratio: 9.7 / 1.6 }],
    ['14.3 ms (2.56 x)', 'pm2 5.6 ms', { number: 14.3, unit: 'ms', baselineNumber: 5.6, ratio: 2.56 }],
    ['1.30 x', '1.00 x', { number: 1.3, unit: 'x', baselineNumber: 1, ratio: 1.3 }],
    ['550 MB/s (55 %)', '10 pipes tar | tar: 1,000 MB/s', { unit: 'MB/s', ratio: 0.55 }],
    ['12.1 s (1.20 x), CPU 11.0 s', 'in one process: 10.1 s, CPU 9.0 s', { number: 12.1, ratio: 1.2 }],
    ['0 / 0', '-', { number: 0, unit: null, baselineNumber: null, ratio: null }],
    ['none', '-', { number: null, unit: null }],
  ])('%s against %s', (value, baseline, numbers) => {
    expect(numbersOf({ figure: 'a figure', value, baseline })).toMatchObject(numbers);
  });

  it('have the unit of the figure when the value has none', () => {
    expect(numbersOf({ figure: 'PUT state, requests/s', value: '9480 (0.96 x)', baseline: '-' })).toEqual({
      number: 9480,
      unit: 'requests/s',
      baselineNumber: null,
      ratio: 0.96,
    });
  });
});

describe('a file of results', () => {
  let directory: string;
  const file = (name: string): string => join(directory, name);
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'drover-report-'));
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  it('is read as it was written', () => {
    const written = result([row('a', '1 ms', { plot: PLOT }), row('b', '2 ms')]);
    writeResult(file('good.json'), { ...written, machine: thisMachine() });
    expect(readResult(file('good.json'))).toEqual({ ...written, machine: thisMachine() });
  });

  it('is refused with its name and its fault', () => {
    writeFileSync(file('text.json'), 'no JSON');
    writeFileSync(file('other.json'), '{"date":"2026-01-02T03:04:05.000Z","commit":null,"machine":7}');
    expect(() => readResult(file('none.json'))).toThrow(/none\.json cannot be read: ENOENT/);
    expect(() => readResult(file('text.json'))).toThrow(/text\.json is not JSON: /);
    expect(() => readResult(file('other.json'))).toThrow(
      /other\.json is no result of npm run bench -- --json: machine: /,
    );
  });

  it('never has two rows of one bench with one id', () => {
    const rows = resultRowsOf('api', [
      row('the same', '1'),
      row('the same', '2'),
      row('x', '3', { id: 'y' }),
    ]);
    expect(rows.map(({ id }) => id)).toEqual(['the same', 'the same (2)', 'y']);
  });
});

describe('compare', () => {
  it('shows each change, and rows that only one run has', () => {
    const a = result([
      row('kept', '10.0 ms'),
      row('against', '4 ms (2.00 x)', { ok: false }),
      row('old', '1 ms'),
      row('words', 'none', { target: '0' }),
    ]);
    const b = result([
      row('kept', '5.0 ms'),
      row('against', '6 ms (1.00 x)'),
      row('new', '7 ms'),
      row('words', 'none', { target: '1' }),
    ]);
    expect(compareResults(a, b).table).toEqual([
      ['figure', 'A', 'B', 'change'],
      ['api: kept', '10.0 ms', '5.0 ms', '-50 %'],
      ['api: against', '4 ms (2.00 x)', '6 ms (1.00 x)', '+50 %, 2.00 x -> 1.00 x, now meets its target'],
      ['api: old', '1 ms', '-', 'in A only'],
      ['api: words', 'none', 'none', 'target was 0'],
      ['api: new', '-', '7 ms', 'in B only'],
    ]);
  });

  it('says when the machines differ, and in what', () => {
    expect(compareResults(result([]), result([])).notes).toHaveLength(2);
    expect(compareResults(result([]), result([], { cores: 4, kernel: '6.2' })).notes[2]).toBe(
      'The machines differ (cores, kernel): compare ratios, not figures.',
    );
  });
});

describe('the page of figures', () => {
  it('takes of several runs the one in the middle, with its own baseline', () => {
    const runs = ['30 ms', '10 ms', '20 ms'].map((value) => result([row('a', value, { baseline: value })]));
    expect(rowsInTheMiddle(runs)).toMatchObject([{ value: '20 ms', baseline: '20 ms' }]);
  });

  it('says where, when and how, and shows each plot', () => {
    const run = result([row('a | b', '9 ms', { ok: false, plot: PLOT })]);
    expect(figuresOf([run], run.rows).split('\n')).toEqual(
      expect.arrayContaining([
        '- **Machine**: 2 x Fast CPU, 8 GB, Linux 6.1, Node v24.0.0',
        '### api',
        'To repeat: `npm run bench api`',
        '| a \\| b | 9 ms | - | &lt; 5 ms | **no** |',
        '![Cost & size](plots/cost.svg)',
      ]),
    );
  });

  it('mixes no machines', () => {
    const runs = [result([]), result([], { cores: 4 })];
    expect(() => figuresOf(runs, [])).toThrow(/one machine, not of 2 x Fast CPU.* and 4 x Fast CPU/);
  });
});

describe('a plot', () => {
  const svg = svgOf(PLOT);

  it('has its title, units, a legend, and a tick at each measured place', () => {
    for (const words of ['Cost &amp; size', 'instances', 'ms', 'one', 'two', '100', '10k', '0', '8'])
      expect(svg).toContain(`>${words}</text>`);
    expect(svg.match(/<circle/g)).toHaveLength(3);
  });

  it('follows a dark page, and stays in its frame', () => {
    expect(svg).toContain('prefers-color-scheme: dark');
    const numbers = [...svg.matchAll(/ (?:x|y|cx|cy|x1|x2|y1|y2)="([^"]+)"/g)].map(([, text]) =>
      Number(text),
    );
    expect(numbers.every((number) => number >= 0 && number <= 360)).toBe(true);
  });
});
