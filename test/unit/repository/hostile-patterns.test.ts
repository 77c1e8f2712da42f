/**
 * Holds that every text from outside takes time in proportion to its length, not to its square. PM2's
 * CVE-2025-5891, a regular expression denial of service, is the warning. Texts of clients, instances and other
 * servers count.
 */
import { expect, it } from 'vitest';
import { tokenOf } from '../../../src/api/gate/credentials.js';
import { validateConfiguration } from '../../../src/configuration-files/parse.js';
import { splitLine } from '../../../src/console/split-line.js';
import { hideSecretsIn } from '../../../src/extensions/setting-secrets.js';
import { linePattern } from '../../../src/logs/search/line-pattern.js';
import { DroverError } from '../../../src/model/errors.js';
import { nameSchema } from '../../../src/model/names.js';
import { substituteCommand } from '../../../src/runtime/command/command-variables.js';
import { execSimple } from '../../../src/runtime/command/exec-command.js';
import { substitute } from '../../../src/runtime/command/variables.js';
import { toPlainText } from '../../../src/telemetry/plain-text.js';
import { hideTokens } from '../../../src/telemetry/secret-fields.js';
import { matcherOf } from '../../../src/templates/sync/pattern.js';
import { objectionTo } from '../../../src/templates/tree/path-objection.js';
import { cpuMsOf } from '../../support/cpu-time.js';

/** A hundred times what a linear pass takes on a slow machine; a quadratic one takes half a minute. */
const LIMIT_MS = 2000;
/** Longer than some of these texts can be: what is quadratic shows all the better. */
const CHARS = 64 * 1024;

const variables = new Map([['X', 'x']]);

const READERS: readonly (readonly [name: string, read: (text: string) => unknown])[] = [
  ['plain text of a log line', toPlainText],
  ['tokens in a log line', hideTokens],
  ['secrets in a message of another server', (text) => hideSecretsIn(text, [])],
  ['a typed line', splitLine],
  ['a typed line for an instance', (text) => splitLine(`instance execute ${text}`)],
  ['a typed option', (text) => splitLine(`instance execute -o${text}-`)],
  ['a token', (text) => tokenOf(requestWith(`Bearer ${text}`), true)],
  ['a name', (text) => nameSchema.safeParse(text)],
  ['a pattern of templates', matcherOf],
  ['a line that may say ready', linePattern('a*a a*-*a')],
  ['a path of a file', objectionTo],
  ['the command of a configuration', (text) => substituteCommand(text, variables)],
  ['the words of a command', execSimple],
  ['a text with variables', (text) => substitute(text, variables)],
  ['a configuration', (text) => validateConfiguration('x', { name: 'x', command: text, [text]: text })],
];

function requestWith(text: string): Parameters<typeof tokenOf>[0] {
  const headers = { authorization: text, 'sec-websocket-protocol': text };
  return Object.assign(Object.create(null), { headers, rawHeaders: ['Authorization', text] });
}

const PIECES = [
  ...[
    'a',
    ' ',
    '\n',
    '\t',
    '.',
    '-',
    '/',
    '\\',
    '%',
    '"',
    "'",
    '`',
    '$',
    '(',
    '{',
    '<',
    '#',
    ':',
    '@',
    '?',
    '=',
    ',',
  ],
  ...['\x1b', '\x1b[', '\x1b]', '\x1b[1;', '\x1b];', '\x9b', '\x90', '\x07'],
  ...[
    'a.',
    'a-',
    'a ',
    'a=',
    'a:',
    '%X',
    '%X%',
    '%25',
    '%2e',
    '../',
    'a/',
    'drv_',
    'drv_a',
    '$(',
    '${',
    '$((',
    '<<',
  ],
  ...[
    'http://',
    'a://',
    'a://b',
    '://',
    '-o ',
    '--output ',
    '" ',
    "' ",
    'aA9._-',
    '*/',
    'Bearer ',
    'Bearer,',
  ],
];

/** A pattern may begin or fail only with what stands around. */
const FRAMES = [
  ['', ''],
  ['a', 'a'],
  ['', '\0"'],
] as const;

it.each(READERS)('%s is read in linear time', async (_name, read) => {
  const slow: string[] = [];
  for (const piece of PIECES) {
    for (const [start, end] of FRAMES) {
      const body = piece.repeat(Math.ceil(CHARS / piece.length)).slice(0, CHARS);
      const text = `${start}${body}${end}`;
      const tookMs = await cpuMsOf(() => {
        try {
          read(text);
        } catch (error) {
          if (!(error instanceof DroverError)) throw error;
        }
      });
      if (tookMs > LIMIT_MS) slow.push(`${JSON.stringify(piece)}: ${Math.round(tookMs)} ms`);
    }
  }
  expect(slow).toEqual([]);
});

it('lines that were written for a long pattern of a search are read in linear time', async () => {
  const matches = linePattern(`${'a'.repeat(9)}b${'a'.repeat(989)}`, { mostChars: CHARS });
  const line = 'a'.repeat(CHARS);
  // As much as one search reads.
  const tookMs = await cpuMsOf(() => {
    for (let count = 0; count < 256; count++) expect(matches(line)).toBe(false);
  });
  expect(tookMs).toBeLessThan(LIMIT_MS);
});
