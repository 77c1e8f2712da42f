/** The pack threads of the built program, for tests that install templates. They end with the process. */
import { join } from 'node:path';
import { PackThreads } from '../../../src/templates/transfer/pack-threads.js';
import { REPOSITORY } from '../repository-root.js';

export const packThreads = new PackThreads(join(REPOSITORY, 'dist/pack-thread-main.js'));
