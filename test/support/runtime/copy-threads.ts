/** The threads of the built program, for tests that install templates. They end with the process. */
import { join } from 'node:path';
import { CopyThreads } from '../../../src/runtime/installation/copy-threads.js';
import { REPOSITORY } from '../repository-root.js';

export const copyThreads = new CopyThreads(join(REPOSITORY, 'dist/copy-thread-main.js'));
