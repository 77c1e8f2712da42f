/** Which values of an environment are covered. */
import { expect, it } from 'vitest';
import { looksSecret } from '../../../src/model/plain/may-be-secret.js';

it.each([
  ['DATABASE_PASSWORD', 'x'],
  ['API_KEY', 'x'],
  ['KEY', 'x'],
  ['githubToken', 'x'],
  ['RCON_PW', 'x'],
  ['DATABASE_URL', 'postgres://drover:hunter2@db:5432/x'],
  ['OTHER', 'drv_abcdefgh'],
  ['CERT', '-----BEGIN PRIVATE KEY-----'],
])('covers %s', (name, value) => {
  expect(looksSecret(name, value)).toBe(true);
});

it.each([
  ['MOTD', 'Welcome'],
  ['KEYBOARD', 'de'],
  ['MONKEY_COUNT', '3'],
  ['UPSTREAM', 'http://10.0.0.1:8080/path'],
])('shows %s', (name, value) => {
  expect(looksSecret(name, value)).toBe(false);
});
