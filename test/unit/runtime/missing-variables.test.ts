/** Which `%NAME%`s without a value are worth a warning: variables that were meant as such, and nothing else. */
import { describe, expect, it } from 'vitest';
import { missingInFile, missingInText, missingText } from '../../../src/runtime/command/missing-variables.js';

const variables = new Map([
  ['INSTANCE_ID', 'a1b2c3'],
  ['GREETING', 'hello'],
]);

describe('in a command or the environment', () => {
  it.each([
    ['serve %GREETNG%', ['GREETNG']],
    ['serve --motd "%zone.of% %INSTANCE_ID% %GREETING%"', ['zone.of']],
    ['%AAA% %AAA% %BBB%', ['AAA', 'BBB']],
    ['%N01% %N02% %N03% %N04% %N05% %N06%', ['N01', 'N02', 'N03', 'N04', 'N05']],
  ])('%j asks for what has no value', (text, names) => {
    expect(missingInText(text, variables)).toEqual(names);
  });

  it.each(['date +%H%M%S', 'awk %FT%T', "printf '%s is 100% %d%'", 'serve --port %PORT%', '%INSTANCE_ID%'])(
    '%j asks for nothing',
    (text) => {
      expect(missingInText(text, variables)).toEqual([]);
    },
  );
});

describe('in a file', () => {
  it('counts are names in capitals, PORT among them; placeholders of programs are left alone', () => {
    const text = 'port=%PORT%\nzone=%ZONE%\nmotd=%GREETING% %player_name% %Server% %d%\nrate=100%\n';
    expect(missingInFile(Buffer.from(text), variables)).toEqual(['PORT', 'ZONE']);
    expect(missingInFile(Buffer.from('no placeholder'), variables)).toEqual([]);
  });
});

describe('in words', () => {
  it('a variable is probably another one, or lacks a port', () => {
    expect(missingText('GREETNG', variables)).toBe(
      '%GREETNG%, which has no value on this node; did you mean %GREETING%?',
    );
    expect(missingText('ZONE', variables)).toBe('%ZONE%, which has no value on this node');
    expect(missingText('PORT', variables)).toBe(
      '%PORT%, which has no value: the configuration has no availablePorts',
    );
  });
});
