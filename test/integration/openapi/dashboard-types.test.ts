/** The dashboard's types of the API: generated from `manifests/openapi.json`, and committed. */
import { join } from 'node:path';
import { generateApi } from 'swagger-typescript-api';
import { expect, it } from 'vitest';
import { DOCUMENT_FILE } from '../../support/api/openapi-check.js';
import { REPOSITORY } from '../../support/repository-root.js';

const TYPES_FILE = join(REPOSITORY, 'src/dashboard/api/api-types.ts');
const HEAD =
  "/** The API's types, generated from manifests/openapi.json. `npm run openapi` writes them anew. */\n\n";
const STALE = `${TYPES_FILE} is not what manifests/openapi.json says: npm run openapi`;
/** The generator starts cold, on a machine that runs other tests. */
const TIMEOUT_MS = 120_000;

it(
  'are what the description of the API says',
  async () => {
    const { files } = await generateApi({
      input: DOCUMENT_FILE,
      output: false,
      silent: true,
      generateClient: false,
      generateUnionEnums: true,
      extractRequestBody: true,
      extractResponseBody: true,
      sortTypes: true,
    });
    expect(files).toHaveLength(1);
    await expect(HEAD + files[0]?.fileContent, STALE).toMatchFileSnapshot(TYPES_FILE);
  },
  TIMEOUT_MS,
);
