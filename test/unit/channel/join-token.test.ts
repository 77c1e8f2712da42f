/** The form of join tokens: their content, and that a damaged one is recognised without being repeated. */
import { describe, expect, it } from 'vitest';
import { formatJoinToken, generateJoinToken, parseJoinToken } from '../../../src/channel/trust/join-token.js';
import { hideTokens } from '../../../src/telemetry/secret-fields.js';

const FINGERPRINT = 'ab'.repeat(32);

describe('a join token', () => {
  it('carries fingerprint, id and a secret of 160 bits that no other has', () => {
    const tokens = Array.from({ length: 100 }, () => generateJoinToken(FINGERPRINT));
    for (const token of tokens) {
      expect(parseJoinToken(formatJoinToken(token))).toEqual(token);
      expect(token.fingerprint).toBe(FINGERPRINT);
      expect(token.id).toMatch(/^[0-9a-f]{12}$/);
      expect(Buffer.from(token.secret, 'base64url')).toHaveLength(20);
    }
    expect(new Set(tokens.map(({ secret }) => secret)).size).toBe(100);
  });

  it('is not taken with a character changed, left out or added, and is not repeated', () => {
    const text = formatJoinToken(generateJoinToken(FINGERPRINT));
    const damaged = Array.from(text, (character, index) =>
      [text.slice(0, index), character === 'A' ? 'B' : 'A', text.slice(index + 1)].join(''),
    );
    for (const bad of [
      ...damaged,
      '',
      'drvjoin_',
      text.slice(1),
      text.slice(0, -1),
      `${text}A`,
      ` ${text}`,
      `${text}=`,
    ]) {
      expect(() => parseJoinToken(bad)).toThrow(/^the join token is not complete: it starts with drvjoin_/);
      if (bad.length > 20) expect(() => parseJoinToken(bad)).not.toThrow(bad);
    }
  });

  it('is cut out of every line of the log', () => {
    const text = formatJoinToken(generateJoinToken(FINGERPRINT));
    expect(hideTokens(`joining with "${text}", and drv_0123456789abcdef`)).toBe(
      'joining with "drvjoin_***", and drv_***',
    );
  });
});
