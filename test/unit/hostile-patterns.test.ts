/**
 * PM2 CVE-2025-5891 (regular expression denial of service), as it would look here: whatever reads text of clients,
 * instances and other servers takes time in proportion to its length, and not to its square.
 */
import { expect, it } from 'vitest';
import { tokenOf } from '../../src/api/credentials.js';
import { splitLine } from '../../src/commands/split-line.js';
import { validateConfiguration } from '../../src/configuration-files/parse.js';
import { hideSecretsIn } from '../../src/extensions/setting-secrets.js';
import { DroverError } from '../../src/model/errors.js';
import { nameSchema } from '../../src/model/names.js';
import { substituteCommand } from '../../src/runtime/command-variables.js';
import { execSimple } from '../../src/runtime/exec-command.js';
import { substitute } from '../../src/runtime/variables.js';
import { toPlainText } from '../../src/telemetry/plain-text.js';
import { hideTokens } from '../../src/telemetry/secret-fields.js';
import { objectionTo } from '../../src/templates/file-path.js';
import { matcherOf } from '../../src/templates/pattern.js';

/** A hundred times what a linear pass takes on a slow machine; a quadratic one takes half a minute. */
const LIMIT_MS = 2000;
const KIB = 1024;
/** Of texts that may be longer still. */
const LONG = 128 * KIB;

const variables = new Map([['X', 'x']]);

/** Each with a text as long as one that reaches it. */
const READERS: readonly (readonly [name: string, chars: number, read: (text: string) => unknown])[] = [
  ['plain text of a log line', LONG, toPlainText],
  ['tokens in a log line', LONG, hideTokens],
  ['secrets in a message of another server', LONG, (text) => hideSecretsIn(text, [])],
  ['a typed line', 64 * KIB, splitLine],
  ['a typed line for an instance', 64 * KIB, (text) => splitLine(`instance execute ${text}`)],
  ['a typed option', 64 * KIB, (text) => splitLine(`instance execute -o${text}-`)],
  ['a token', 16 * KIB, (text) => tokenOf(requestWith(`Bearer ${text}`), true)],
  ['a name', LONG, (text) => nameSchema.safeParse(text)],
  ['a pattern of templates', LONG, matcherOf],
  ['a path of a file', 2 * KIB, objectionTo],
  ['the command of a configuration', 64 * KIB, (text) => substituteCommand(text, variables)],
  ['the words of a command', 64 * KIB, execSimple],
  ['a text with variables', LONG, (text) => substitute(text, variables)],
  ['a configuration', LONG, (text) => validateConfiguration('x', { name: 'x', command: text, [text]: text })],
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

it.each(READERS)(
  '%s is read in linear time',
  (_name, chars, read) => {
    const slow: string[] = [];
    for (const piece of PIECES) {
      for (const end of ['', '\0"']) {
        const text = piece.repeat(Math.ceil(chars / piece.length)).slice(0, chars - end.length) + end;
        const startedAt = performance.now();
        try {
          read(text);
        } catch (error) {
          if (!(error instanceof DroverError)) throw error;
        }
        const tookMs = performance.now() - startedAt;
        if (tookMs > LIMIT_MS) slow.push(`${JSON.stringify(piece)}: ${Math.round(tookMs)} ms`);
      }
    }
    expect(slow).toEqual([]);
  },
  120_000,
);
