/** Files that extend others: what is merged, what is refused with its place, and what the API writes. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { patched } from '../../../src/configuration-files/extends.js';
import { nextContent } from '../../../src/configuration-files/next-content.js';
import { validateConfiguration } from '../../../src/configuration-files/parse.js';
import { DirectorySource } from '../../../src/configuration-files/source.js';
import { SystemClock } from '../../../src/loop/system-clock.js';

let directory: string;
let source: DirectorySource;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'drover-extends-'));
  const logger = pino({ enabled: false });
  source = new DirectorySource({ nodeId: 'n', directory, logger, clock: new SystemClock() });
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function write(files: Readonly<Record<string, unknown>>): void {
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, file)), { recursive: true });
    writeFileSync(join(directory, file), typeof content === 'string' ? content : JSON.stringify(content));
  }
}

/** What the file says, or `line:column field message` of its fault. */
async function read(file: string): Promise<unknown> {
  await source.read({ isFinal: true });
  const reading = source.files?.get(file);
  if (reading?.kind === 'valid') return reading.parsed.content;
  return (
    reading && `${reading.error.line}:${reading.error.column} ${reading.error.field} ${reading.error.message}`
  );
}

describe('a file that extends another', () => {
  it('says what both say, by a merge patch, under its own name', async () => {
    write({
      'base/lobby.json': {
        name: 'any',
        command: 'x',
        cpu: 1,
        environmentVariables: { A: '1', B: '2' },
        nodes: ['a'],
      },
      'prod/eu.json': {
        extends: '../base/lobby.json',
        cpu: null,
        environmentVariables: { B: '3' },
        nodes: ['b'],
      },
    });
    expect(await read('prod/eu.json')).toEqual({
      command: 'x',
      environmentVariables: { A: '1', B: '3' },
      nodes: ['b'],
    });
    const reading = source.files?.get('prod/eu.json');
    expect(reading?.kind === 'valid' && reading.parsed.configuration.name).toBe('eu');
    expect([...(source.files?.keys() ?? [])]).toEqual(['prod/eu.json']);
  });

  it('follows a chain, and a file outside of base/ is a configuration of its own, too', async () => {
    write({
      'base/a.json': { command: 'x', cpu: 1 },
      'b.json': { extends: 'base/a.json', cpu: 2 },
      'c.json': { extends: './b.json', ramMB: 3 },
    });
    expect(await read('c.json')).toEqual({ command: 'x', cpu: 2, ramMB: 3 });
    expect(await read('b.json')).toEqual({ command: 'x', cpu: 2 });
  });

  it('changes with what it extends, also when only that file is hinted at', async () => {
    write({ 'base/a.json': { command: 'x' }, 'b.json': { extends: 'base/a.json' } });
    await read('b.json');
    const before = source.files?.get('b.json');
    write({ 'base/a.json': { command: 'longer' } });
    expect(await source.isAsRead('b.json')).toBe(false);
    await source.readSome(['base/a.json']);
    const after = source.files?.get('b.json');
    expect(after?.kind === 'valid' && after.parsed.configuration.command).toBe('longer');
    expect(
      after?.kind === 'valid' && before?.kind === 'valid' && after.parsed.hash === before.parsed.hash,
    ).toBe(false);
    rmSync(join(directory, 'base/a.json'));
    expect(await read('b.json')).toBe('1:12 extends extends: base/a.json does not exist');
    write({ 'base/a.json': { command: 'back' } });
    expect(await read('b.json')).toEqual({ command: 'back' });
  });

  it.each([
    ['../base/none.json', '2:12 extends extends: base/none.json does not exist'],
    ['../../etc/x.json', '2:12 extends extends: "../../etc/x.json" leads out of the directory'],
    ['/etc/x.json', '2:12 extends extends: must be a path from this file, is "/etc/x.json"'],
    ['../base/.x.json', '2:12 extends extends: "../base/.x.json" must be a *.json that is not hidden'],
    ['../base/x.yaml', '2:12 extends extends: "../base/x.yaml" must be a *.json that is not hidden'],
    ['lobby.json', '2:12 extends extends: goes in a circle: prod/lobby.json -> prod/lobby.json'],
    [
      '../base/round.json',
      '2:12 extends extends: in base/round.json:1:12: goes in a circle: prod/lobby.json -> base/round.json -> prod/lobby.json',
    ],
    [
      '../base/broken.json',
      '2:12 extends extends: base/broken.json:1:2: not valid JSON: expected a field name in double quotes, found the end of the text',
    ],
    ['../base/list.json', '2:12 extends extends: base/list.json must be an object in { }'],
    [
      '../base/wrong.json',
      '2:12 cpu cpu: must be a whole number from 0 to 1000000, is "x" (base/wrong.json:1:22)',
    ],
    [
      '../base/n1.json',
      expect.stringMatching(/^2:12 extends extends: in base\/n8\.json:1:12: more than 8 files/),
    ],
  ])('is refused with its place: %s', async (path, expected) => {
    write({
      'base/round.json': { extends: '../prod/lobby.json' },
      'base/broken.json': '{',
      'base/list.json': '[]',
      'base/wrong.json': { command: 'x', cpu: 'x' },
      ...Object.fromEntries(
        Array.from({ length: 9 }, (_, n) => [
          `base/n${n + 1}.json`,
          { extends: `n${n + 2}.json`, command: 'x' },
        ]),
      ),
      'prod/lobby.json': `{\n"extends": ${JSON.stringify(path)}\n}`,
    });
    expect(await read('prod/lobby.json')).toEqual(expected);
  });

  it('is refused as a body: only the files of a directory know what it means', () => {
    expect(() => validateConfiguration('a', { extends: 'b.json', command: 'x' })).toThrow(
      /drover render -f FILE/,
    );
  });

  it('gets the difference alone when it is written', async () => {
    const text = '{\n\t"extends": "base/a.json",\n\t"cpu": 2,\n\t"$comment": "more"\n}\n';
    write({
      'base/a.json': { command: 'x', cpu: 1, ramMB: 9, environmentVariables: { A: '1', B: '2' } },
      'b.json': text,
    });
    await read('b.json');
    const content = {
      name: 'b',
      command: 'x',
      cpu: 1,
      minimumServiceCount: 3,
      environmentVariables: { B: '2', C: '3' },
    };
    await source.writeFile('b.json', validateConfiguration('b', content));
    await source.settle();
    expect(readFileSync(join(directory, 'b.json'), 'utf8')).toBe(
      '{\n\t"extends": "base/a.json",\n\t"$comment": "more",\n\t"minimumServiceCount": 3,\n\t"environmentVariables": {\n\t\t"C": "3",\n\t\t"A": null\n\t},\n\t"ramMB": null\n}\n',
    );
    const reading = source.files?.get('b.json');
    expect(reading?.kind === 'valid' && reading.parsed.hash).toBe(validateConfiguration('b', content).hash);
  });
});

const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.oneof(fc.integer({ max: 3, min: 0 }), fc.boolean()),
    fc.array(fc.integer({ max: 3, min: 0 }), { maxLength: 3 }),
    tie('object'),
  ),
  object: fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value'), { noNullPrototype: true }),
})).object;

it('finds the patch that makes any content of any base', () => {
  fc.assert(
    fc.property(json, json, json, (base, own, wanted) => {
      const now = { raw: own, meant: undefined };
      const patch = nextContent(now, { raw: wanted, meant: undefined }, base);
      expect(patched(base, patch)).toEqual(wanted);
    }),
    { numRuns: Number(process.env.DROVER_PROPERTY_RUNS ?? 300) },
  );
});
