/** What is left of a line for a terminal. */
import { expect, it } from 'vitest';
import { toPlainText } from '../../../src/telemetry/plain-text.js';

it.each([
  ['colours', 'a\x1b[31mred\x1b[0m', 'ared'],
  ['control characters', 'a\x07\x7f\x9bb', 'ab'],
  ['an override of the direction', 'exe\u202egpj.txt', 'exegpj.txt'],
  ['embeddings and isolates', '\u202a\u202b\u202c\u202da\u2066\u2067\u2068\u2069', 'a'],
  ['direction marks', '\u200ea\u200fb\u061c', 'ab'],
])('%s are dropped', (_what, line, plain) => {
  expect(toPlainText(line)).toBe(plain);
});

it('text of any script, joined characters and tabs stay', () => {
  const line = 'שלום مرحبا\t👩\u200d🚀 é ü';
  expect(toPlainText(line)).toBe(line);
});
