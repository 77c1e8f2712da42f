/** Zips of templates: the same bytes in every time zone. */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { packContent } from '../../../src/templates/library/pack-zip.js';

let zone: string | undefined;
beforeEach(() => {
  zone = process.env.TZ;
});
afterEach(() => {
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
});

it('does not depend on the zone of the machine', async () => {
  const zips: string[] = [];
  for (const name of ['UTC', 'Pacific/Kiritimati', 'America/New_York', 'Pacific/Pago_Pago']) {
    process.env.TZ = name;
    zips.push((await buffer(packContent(Readable.from(['x']), 'file'))).toString('hex'));
  }
  expect(new Set(zips).size).toBe(1);
});
