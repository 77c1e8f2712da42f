/** Runs axe-core over a page of the dashboard. A page may have no fault that axe-core calls serious or critical. */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { z } from 'zod';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const foundSchema = z.array(
  z.object({
    id: z.string(),
    impact: z.string().nullable(),
    nodes: z.array(z.object({ target: z.array(z.unknown()), failureSummary: z.string().optional() })),
  }),
);

const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

/** Another theme shows the same elements in other colours, so it is held to the rules of colours only. */
export type Rules = 'all' | 'colours';

/** Fails with the broken rules and their places. `what` names the state of the page. */
export async function expectAccessible(page: Page, what: string, rules: Rules = 'all'): Promise<void> {
  // Evaluated instead of added as a script element, because the policy of the page allows no script of a test.
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(AXE);
  const only = rules === 'all' ? '' : `{ runOnly: ${JSON.stringify(COLOUR_RULES)} }`;
  const found = foundSchema.parse(
    await page.evaluate(`axe.run(${only}).then(({ violations }) => violations)`),
  );
  const serious = found.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  const told = serious.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${JSON.stringify(target)} ${failureSummary ?? ''}`),
  );
  expect(told, what).toEqual([]);
}
