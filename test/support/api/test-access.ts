/** The access of a key without an API, for tests of code that takes an access. */
import { KeyAccess } from '../../../src/access/access.js';
import { type Grant, withoutLimits } from '../../../src/model/access/api-key.js';
import { FakeClock } from '../fake-clock.js';

/** An ALL key without restrictions, unless `limits` say otherwise. */
export function testAccess(label: string, limits: Partial<Grant> = {}, clock = new FakeClock()): KeyAccess {
  return new KeyAccess({ label, keyHash: '', grant: { ...withoutLimits('ALL'), ...limits }, clock });
}
