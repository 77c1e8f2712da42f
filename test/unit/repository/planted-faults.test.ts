/** A planted fault whose place has moved would be planted nowhere, and the simulation would find nothing to find. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { read } from '../../support/repository/pages.js';
import { REPOSITORY } from '../../support/repository-root.js';

const faultSchema = z.object({
  name: z.string(),
  path: z.string(),
  was: z.string().min(1),
  becomes: z.string(),
});
const faults = await Promise.all(
  ['planted-faults.mjs', 'planted-in-masters.mjs'].map(async (file) =>
    z
      .record(z.string(), z.array(faultSchema).min(1))
      .parse({ ...(await import(join(REPOSITORY, 'test/runs', file))) }),
  ),
);

it.each(faults.flatMap((lists) => Object.values(lists).flat()))(
  'has one place for: $name',
  ({ path, was, becomes }) => {
    expect(read(path).split(was)).toHaveLength(2);
    expect(becomes).not.toBe(was);
  },
);
