/** Holds that the tables of docs/commands.md are those of the command tree. `npm run commands` writes them. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { withTables } from '../../support/repository/commands-page.js';
import { read } from '../../support/repository/pages.js';
import { REPOSITORY } from '../../support/repository-root.js';

it('docs/commands.md has the tables that the command tree makes', async () => {
  await expect(withTables(read('docs/commands.md'))).toMatchFileSnapshot(
    join(REPOSITORY, 'docs/commands.md'),
  );
});

it('a page without a place for a table is refused', () => {
  expect(() => withTables('# Commands')).toThrow('no place for the table of commands');
});
