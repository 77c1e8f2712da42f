/** Changes a text in the editor of the dashboard. */
import type { Page } from 'playwright-core';

/** Selects a text of the editor and types another over it, as a person does. */
export async function typeOver(page: Page, old: string, next: string): Promise<void> {
  await page.locator('.cm-line').filter({ hasText: old }).first().waitFor();
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+f');
  await page.getByRole('textbox', { name: 'Find' }).waitFor();
  await page.keyboard.type(old);
  await page.keyboard.press('Enter');
  await page.keyboard.press('Escape');
  await page.keyboard.type(next);
}
